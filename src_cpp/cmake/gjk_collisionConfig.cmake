# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(gjk_collision [COMPONENTS kernel|interfaces...])
#   kernel      gjk_collision::gjk: the headers gjk/*.hpp, with the compile flags that they need
#   interfaces  gjk_collision_TARGETS: the messages and services. Needs ROS 2 and a colcon install of this package
# Without COMPONENTS: the kernel, and the interfaces where ament is found.
include("${CMAKE_CURRENT_LIST_DIR}/gjk_collision_kernel.cmake")
set(gjk_collision_kernel_FOUND TRUE)

set(_gjk_wanted ${gjk_collision_FIND_COMPONENTS})
if(NOT _gjk_wanted)
  set(_gjk_wanted kernel interfaces)
endif()

set(_gjk_reason "")
set(gjk_collision_interfaces_FOUND FALSE)
if(NOT "${_gjk_wanted}" STREQUAL "kernel")
  if(NOT EXISTS "${CMAKE_CURRENT_LIST_DIR}/gjk_collision_ament.cmake")
    set(_gjk_reason "this is an installation of the C++ kernel alone: build the package with colcon")
  else()
    find_package(ament_cmake_libraries QUIET)
    if(ament_cmake_libraries_FOUND)
      include("${CMAKE_CURRENT_LIST_DIR}/gjk_collision_ament.cmake")
      set(gjk_collision_interfaces_FOUND TRUE)
    else()
      set(_gjk_reason "ROS 2 (ament_cmake_libraries) is not in CMAKE_PREFIX_PATH: source its setup file")
    endif()
  endif()
endif()

foreach(_gjk_component IN LISTS gjk_collision_FIND_COMPONENTS)
  if(NOT gjk_collision_${_gjk_component}_FOUND AND gjk_collision_FIND_REQUIRED_${_gjk_component})
    if(NOT _gjk_component MATCHES "^(kernel|interfaces)$")
      set(_gjk_reason "there are the components kernel and interfaces")
    endif()
    set(gjk_collision_FOUND FALSE)
    set(gjk_collision_NOT_FOUND_MESSAGE "no component ${_gjk_component}: ${_gjk_reason}")
  endif()
endforeach()

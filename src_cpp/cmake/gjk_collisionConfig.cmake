# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(gjk_collision [COMPONENTS kernel|interfaces|client|mirror...])
#   kernel      gjk_collision::kernel: the headers gjk/*.hpp and the compiled library
#               gjk_collision::gjk: the headers alone. Both with the compile flags that they need
#   interfaces  gjk_collision_TARGETS: the messages and services
#   client      gjk_collision::client: gjk_collision/client.hpp, a client of the server. Needs rclcpp
#   mirror      gjk_collision::mirror: gjk_collision/mirror.hpp, a mirror of the server. Needs rclcpp
# All but the kernel need ROS 2, and this package installed by colcon.
# Without COMPONENTS: the kernel, and the interfaces where ament is found.
include("${CMAKE_CURRENT_LIST_DIR}/gjk_collision_kernel.cmake")
set(gjk_collision_kernel_FOUND TRUE)

set(_gjk_wanted ${gjk_collision_FIND_COMPONENTS})
if(NOT _gjk_wanted)
  set(_gjk_wanted kernel interfaces)
endif()

set(_gjk_reason "")
set(gjk_collision_interfaces_FOUND FALSE)
set(gjk_collision_client_FOUND FALSE)
set(gjk_collision_mirror_FOUND FALSE)
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

# The headers of the client and of the mirror are compiled by their users: rclcpp is not needed before.
if(gjk_collision_interfaces_FOUND AND "${_gjk_wanted}" MATCHES "client|mirror")
  find_package(rclcpp QUIET)
  if(rclcpp_FOUND)
    if(NOT TARGET gjk_collision::client)
      add_library(gjk_collision::client INTERFACE IMPORTED)
      target_compile_features(gjk_collision::client INTERFACE cxx_std_20)
      target_link_libraries(gjk_collision::client INTERFACE rclcpp::rclcpp gjk_collision::gjk ${gjk_collision_TARGETS})
      add_library(gjk_collision::mirror INTERFACE IMPORTED)
      target_link_libraries(gjk_collision::mirror INTERFACE gjk_collision::client gjk_collision::kernel)
    endif()
    set(gjk_collision_client_FOUND TRUE)
    set(gjk_collision_mirror_FOUND TRUE)
  else()
    set(_gjk_reason "rclcpp is not found: install it, or source the setup file of its workspace")
  endif()
endif()

foreach(_gjk_component IN LISTS gjk_collision_FIND_COMPONENTS)
  if(NOT gjk_collision_${_gjk_component}_FOUND AND gjk_collision_FIND_REQUIRED_${_gjk_component})
    if(NOT _gjk_component MATCHES "^(kernel|interfaces|client|mirror)$")
      set(_gjk_reason "there are the components kernel, interfaces, client and mirror")
    endif()
    set(gjk_collision_FOUND FALSE)
    set(gjk_collision_NOT_FOUND_MESSAGE "no component ${_gjk_component}: ${_gjk_reason}")
  endif()
endforeach()

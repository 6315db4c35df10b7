# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Builds: C++ by CMake presets, the library by pip, the ROS workspaces by colcon; and the commands that use them.

# cpp_build FOLDER PRESET CMAKE-OPTION...: a preset of FOLDER/CMakePresets.json, into .dev/cpp/PRESET.
cpp_build() (
    cd "$1" || exit
    cmake --preset "$2" "${@:3}"
    cmake --build --preset "$2"
)

# cpp_test PRESET CTEST-OPTION...: the tests of a preset that was built.
cpp_test() (
    cd src_cpp || exit
    ctest --preset "$@"
)

# What both builds of the package are made from.
PACKAGE=(gjk_collision package.xml msg srv tools/{build,module}.sh src_cpp/{CMakeLists.txt,cmake,include,kernel,bindings,proofs/checker,ros})

# ---- the library, without ROS

lib_environment() {
    compilers
    lock
    environment lib "$DEV/lib/venv" requirements/lib.txt
    once "$DEV/lib/install.stamp" "$(<"$DEV/lib/venv.stamp")-$(hash_of "${PACKAGE[@]}" setup.py pyproject.toml)" \
        "lib: pip install ." "mend the build error above, then run again" lib_install
    unlock
}

# The library, with what its tests need, the examples and the code of docs/ included.
lib_tests() {
    lib_environment
    lock
    more tests "$DEV/lib/venv" requirements/{lib,test,demo,examples}.txt
    unlock
}

# Build folders are under .dev, none in the checkout. CMake's is kept, the copied Python is not.
lib_install() {
    local python=$DEV/lib/venv/bin/python key module
    key=$(module_key "$python")
    module=$(module_take "$python" "$DEV/lib/module")
    echo "compiled module: ${module:-built here}"
    printf '[build]\nbuild_base=%s\n[egg_info]\negg_base=%s\n' "$DEV/lib/build" "$DEV/lib" >"$DEV/lib/build.cfg"
    rm -rf "$DEV"/lib/build/{lib,bdist}*
    PATH=$DEV/lib/venv/bin:$PATH DIST_EXTRA_CONFIG=$DEV/lib/build.cfg GJK_PYTHON_MODULE=$module \
        "$python" -m pip install --disable-pip-version-check --verbose \
        --no-build-isolation --no-deps --force-reinstall .
    [[ -n $module ]] || module_keep "$python" "$key" "$DEV/lib/build"
}

# ---- the ROS workspaces

# ros_build plain|symlink: build the workspace of that kind. Both kinds share their build folder, so what the first has
# compiled, the second only installs.
ros_build() {
    local kind=$1 option=''
    [[ $kind == symlink ]] && option=--symlink-install
    lock
    once "$HOME_DIR/$kind.stamp" "$(<"$HOME_DIR/venv.stamp")-$(hash_of "${PACKAGE[@]}" CMakeLists.txt \
        scripts launch config)" \
        "$ROS_DISTRO: colcon build $option" "mend the build error above, then run again" \
        colcon_build "$kind" ${option:+"$option"}
    unlock
}

# colcon_build KIND COLCON-OPTION...
colcon_build() {
    local ws=$HOME_DIR/$1 python=$HOME_DIR/venv/bin/python kernel=$HOME_DIR/module/kernel.o key module symlinks=OFF
    [[ $1 == symlink ]] && symlinks=ON # said each time: CMake would remember that of the other kind
    shift
    key=$(module_key "$python")
    module=$(module_take "$python" "$HOME_DIR/module")
    [[ -f $kernel ]] || kernel='' # a wheel keeps none
    echo "compiled module: ${module:-built here}"
    rm -rf "$ws/install" # so that what was deleted in the checkout is not left installed
    rm -rf "$HOME_DIR"/build/gjk_collision/ament_cmake_python/gjk_collision/gjk_collision # a folder or a link, by kind
    # Without MAKEFLAGS, colcon passes ninja a limit of the load, and a busy machine builds one file at a time.
    MAKEFLAGS=${MAKEFLAGS:--j$(nproc)} \
        colcon --log-base "$ws/log" build --base-paths "$ROOT" --build-base "$HOME_DIR/build" --install-base "$ws/install" \
        --event-handlers console_direct+ "$@" \
        --cmake-args -G Ninja -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=Release "-DPython3_EXECUTABLE=$python" \
        "-DGJK_PYTHON_MODULE=$module" "-DGJK_KERNEL_OBJECT=$kernel" \
        "-DAMENT_CMAKE_SYMLINK_INSTALL=$symlinks"
    [[ -n $module ]] || module_keep "$python" "$key" "$ws/install"
}

# in_ros plain|symlink COMMAND...: run in the built workspace.
in_ros() {
    source_setup "$HOME_DIR/$1/install/setup.bash"
    shift
    "$@"
}

# ---- commands

command_build() {
    lib_environment
    ros_environment
    ros_build plain
}

command_demo() {
    ros_environment
    ros_build plain
    in_ros plain python examples/demo/run.py "$@"
}

command_exec() {
    (($#)) || die "exec needs a command: ./dev exec python -c 'import gjk_collision'"
    ros_environment
    ros_build plain
    # The checkout's gjk_collision must not shadow the installed one; but a script keeps its own folder.
    cd "$CALLER"
    [[ -f ${2:-} ]] || export PYTHONSAFEPATH=1
    in_ros plain exec "$@"
}

command_shell() {
    ros_environment
    ros_build plain
    source_setup "$HOME_DIR/plain/install/setup.bash"
    export PYTHONSAFEPATH=1 DEV_PATH=$PATH
    # shellcheck disable=SC2016 # the new shell expands them
    exec bash --rcfile <(printf '%s\n' '[[ -f ~/.bashrc ]] && . ~/.bashrc' 'PATH=$DEV_PATH' "PS1='($ROS_DISTRO) '\$PS1") -i
}

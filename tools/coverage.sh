# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev coverage: the lines that the tests run. pyproject.toml configures coverage.py, which the tests' environments
# contain; src_cpp/CMakePresets.json has the flags for the kernel.
COVERAGE=$DEV/coverage
COVERAGE_LEAST=95 # percent of the lines, for each part

command_coverage() {
    local suites=("$@") suite
    ((${#suites[@]})) || suites=(cpp lib ros)
    for suite in "${suites[@]}"; do
        [[ $suite =~ ^(cpp|lib|ros)$ ]] || die "coverage takes cpp, lib and ros, not '$suite'"
    done
    compilers
    packages 'test -f /usr/include/gmpxx.h' libgmp-dev
    once "$COVERAGE/venv.stamp" "$(hash_of requirements/coverage.txt)-$("$PYTHON" -VV)" "coverage: environment from PyPI" \
        "check the network and PyPI access, then run again" venv "$COVERAGE/venv" '' requirements/coverage.txt
    lib_environment
    for suite in "${suites[@]}"; do
        rm -f "$COVERAGE/$suite.key"
        (coverage_"$suite" && verdict) || FAILURES+=("coverage $suite") # a process of its own, for its environment
    done
    coverage_table
    verdict
}

# ---- the suites. Each replaces its own data; the key names the sources that were measured.

coverage_cpp() {
    step "coverage cpp: ctest" "mend the test that failed" coverage_ctest
}

coverage_ctest() {
    local key
    key=$(hash_of src_cpp/include)
    coverage_build || return
    coverage_forget -not
    printf '%s' "$key" >"$COVERAGE/cpp.key"
    cpp_test coverage -j "$(nproc)"
}

coverage_lib() {
    browser
    npm_packages
    step "coverage lib: pytest, without ROS" "mend the test that failed" in_lib coverage_module
}

# Many lines of the kernel run for Python only: a copy of the package has a module that counts them.
coverage_module() {
    local site=$COVERAGE/site-packages
    coverage_build || return
    coverage_forget
    rm -rf "$site"
    mkdir -p "$site"
    cp -r "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/gjk_collision" "$site/" || return
    cp "$COVERAGE"/module/_core.*.so "$site/gjk_collision/" || return
    PYTHONPATH=$site coverage_pytest lib test/lib "--numprocesses=$(nproc)" --dist=loadfile
}

coverage_build() {
    cpp_build src_cpp coverage "-DPython_EXECUTABLE=$DEV/lib/venv/bin/python" \
        "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$COVERAGE/module"
}

# coverage_forget [-not]: delete the counts of the module (-not: those of the C++ tests) from the run before.
coverage_forget() {
    find "$DEV/cpp/coverage" -name '*.gcda' "$@" '(' -path '*/_core.dir/*' -o -path '*/gjk_kernel.dir/*' ')' -delete
}

coverage_ros() {
    ros_environment
    ros_build plain
    step "coverage ros: pytest, $ROS_DISTRO" "mend the test that failed" in_ros plain coverage_pytest ros \
        test/ros test/launch
}

# coverage_pytest SUITE PYTEST-ARGUMENT...: in the environment in force. Counting makes the tests slower.
coverage_pytest() {
    local suite=$1 key status=0
    shift
    key=$(hash_of gjk_collision src_cpp/include)
    rm -f "$COVERAGE/$suite.data"*
    COVERAGE_FILE=$COVERAGE/$suite.data PYTHONSAFEPATH=1 HYPOTHESIS_STORAGE_DIRECTORY=$DEV/hypothesis \
        python -m coverage run -m pytest -o "cache_dir=$DEV/pytest_cache" "$@" || status=$?
    python -m coverage combine --quiet --data-file="$COVERAGE/$suite.data" "$COVERAGE/$suite.data".*
    printf '%s' "$key" >"$COVERAGE/$suite.key"
    return $status
}

# ---- the table

# For each part, a report that names the lines that no test runs; then the totals of all parts.
coverage_table() {
    local suite data=()
    rm -f "$COVERAGE"/{kernel,library,server}.txt
    if coverage_is_current cpp src_cpp/include; then
        step "coverage: report of the kernel" "read the error of gcovr above" coverage_kernel
    fi
    for suite in lib ros; do
        coverage_is_current "$suite" gjk_collision src_cpp/include && data+=("$COVERAGE/$suite.data")
    done
    if ((${#data[@]})); then
        step "coverage: reports of library and server" "read the error of coverage.py above" coverage_python "${data[@]}"
    fi
    printf '%-10s%10s%10s%10s\n' part lines 'not run' 'run [%]'
    coverage_row kernel run
    coverage_row library missed
    coverage_row server missed
    say "   the lines that no test runs: .dev/coverage/{kernel,library,server}.txt"
}

# coverage_is_current SUITE SOURCES...: whether there is data of these very sources.
coverage_is_current() {
    [[ -f $COVERAGE/$1.key && $(<"$COVERAGE/$1.key") == "$(hash_of "${@:2}")" ]] && return
    say "   no data of these sources; measure it with: ./dev coverage $1"
    return 1
}

# gcovr joins the instances of a template. The compiler check of CMake has no sources.
coverage_kernel() {
    "$COVERAGE/venv/bin/gcovr" --root "$ROOT" --filter 'src_cpp/include/gjk/' --object-directory "$DEV/cpp/coverage" \
        --gcov-exclude-directory '.*CompilerIdCXX' --merge-lines --merge-mode-functions=merge-use-line-0 \
        --gcov-ignore-parse-errors=negative_hits.warn --txt "$COVERAGE/kernel.txt" "$DEV/cpp/coverage"
}

# coverage_python DATA...: all tests run the library, and the server is part of the node and of replay.
coverage_python() {
    local all=$COVERAGE/python.data
    in_lib python -m coverage combine --quiet --keep --data-file="$all" "$@"
    coverage_report library --include='gjk_collision/*' --omit='gjk_collision/server/*,gjk_collision/ros/*'
    coverage_report server --include='gjk_collision/server/*,gjk_collision/ros/*'
}

# coverage_report PART COVERAGE-OPTION...
coverage_report() {
    in_lib python -m coverage report --data-file="$COVERAGE/python.data" --show-missing --skip-covered --precision=1 \
        "${@:2}" >"$COVERAGE/$1.txt"
}

# coverage_row PART run|missed: print the totals of a report. Its third column counts the lines that run, or the others.
coverage_row() {
    local total lines count
    total=$(grep -s '^TOTAL ' "$COVERAGE/$1.txt") || true
    read -r _ lines count _ <<<"$total"
    [[ $2 == run && -n $lines ]] && count=$((lines - count))
    LC_ALL=C awk -v part="$1" -v lines="$lines" -v missed="$count" -v least="$COVERAGE_LEAST" 'BEGIN {
        if (lines == "") { printf "%-10s%10s\n", part, "no data"; exit 1 }
        percent = 100 * (lines - missed) / lines
        printf "%-10s%10d%10d%10.1f%s\n", part, lines, missed, percent, percent < least ? "   less than " least : ""
        exit percent < least
    }' || FAILURES+=("$1: at least $COVERAGE_LEAST % of the lines")
}

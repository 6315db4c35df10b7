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
    environment coverage "$COVERAGE/venv" requirements/coverage.txt
    lib_tests
    coverage_begin
    for suite in "${suites[@]}"; do
        (coverage_"$suite" && verdict) || FAILURES+=("coverage $suite") # a process of its own, for its environment
    done
    coverage_reports
    verdict
}

# Forget what was measured of other sources.
coverage_begin() {
    local key
    key=$(hash_of gjk_collision src_cpp/include)
    [[ -f $COVERAGE/key && $(<"$COVERAGE/key") == "$key" ]] && return
    rm -f "$COVERAGE"/*.data
    coverage_forget -true
    printf '%s' "$key" >"$COVERAGE/key"
}

# ---- the suites. Each replaces its own data.

coverage_cpp() {
    step "coverage cpp: ctest" "mend the test that failed" coverage_ctest
}

coverage_ctest() {
    coverage_build || return
    coverage_forget -not "${COVERAGE_MODULE[@]}"
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
    coverage_forget "${COVERAGE_MODULE[@]}"
    rm -rf "$site"
    mkdir -p "$site"
    cp -r "$(site_of python)/gjk_collision" "$site/" || return
    cp "$COVERAGE"/module/_core.*.so "$site/gjk_collision/" || return
    PYTHONPATH=$site coverage_pytest lib test/lib "--numprocesses=$(nproc)" --dist=loadfile
}

coverage_build() {
    cpp_build src_cpp coverage "-DPython_EXECUTABLE=$DEV/lib/venv/bin/python" \
        "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$COVERAGE/module"
}

# coverage_forget CONDITION-OF-FIND...: delete counts of the kernel: those of the module, or of the C++ tests.
COVERAGE_MODULE=('(' -path '*/_core.dir/*' -o -path '*/gjk_kernel.dir/*' ')')
coverage_forget() {
    [[ ! -d $DEV/cpp/coverage ]] || find "$DEV/cpp/coverage" -name '*.gcda' "$@" -delete
}

coverage_ros() {
    ros_environment
    ros_tests
    ros_build plain
    step "coverage ros: pytest, $ROS_DISTRO" "mend the test that failed" in_ros plain coverage_pytest ros \
        test/ros test/launch
}

# coverage_pytest SUITE PYTEST-ARGUMENT...: in the environment in force. Counting makes the tests slower.
coverage_pytest() {
    local data=$COVERAGE/$1.data status=0
    rm -f "$data"*
    COVERAGE_FILE=$data PYTHONSAFEPATH=1 HYPOTHESIS_STORAGE_DIRECTORY=$DEV/hypothesis \
        python -m coverage run -m pytest -o "cache_dir=$DEV/pytest_cache" "${@:2}" || status=$?
    python -m coverage combine --quiet --data-file="$data" "$data".*
    return $status
}

# ---- the reports: for each part, one that names the lines that no test runs; then the totals of all parts

coverage_reports() {
    local hint="test the lines that .dev/coverage/*.txt names: $COVERAGE_LEAST % must run" part data
    rm -f "$COVERAGE"/{kernel,library,server}.txt
    step "coverage: kernel" "$hint" coverage_kernel
    # All tests run the library, and the server is part of the node and of replay.
    mapfile -t data < <(compgen -G "$COVERAGE/*.data")
    in_lib python -m coverage combine --quiet --keep --data-file="$COVERAGE/python" "${data[@]}" || true
    step "coverage: library" "$hint" in_lib coverage_python library --include='gjk_collision/*' \
        --omit='gjk_collision/server/*,gjk_collision/ros/*'
    step "coverage: server" "$hint" in_lib coverage_python server --include='gjk_collision/server/*,gjk_collision/ros/*'
    printf '%-10s%10s%10s\n' part lines run
    for part in kernel library server; do
        awk -v part="$part" '/^TOTAL/ { printf "%-10s%10d%10s\n", part, $2, $NF }' "$COVERAGE/$part.txt" || true
    done
}

# gcovr joins the instances of a template. The compiler check of CMake has no sources.
coverage_kernel() {
    "$COVERAGE/venv/bin/gcovr" --root "$ROOT" --filter 'src_cpp/include/gjk/' --object-directory "$DEV/cpp/coverage" \
        --gcov-exclude-directory '.*CompilerIdCXX' --merge-lines --merge-mode-functions=merge-use-line-0 \
        --gcov-ignore-parse-errors=negative_hits.warn --fail-under-line "$COVERAGE_LEAST" \
        --txt "$COVERAGE/kernel.txt" "$DEV/cpp/coverage"
}

# coverage_python PART COVERAGE-OPTION...
coverage_python() {
    python -m coverage report --data-file="$COVERAGE/python" --show-missing --skip-covered --precision=1 \
        --fail-under="$COVERAGE_LEAST" "${@:2}" >"$COVERAGE/$1.txt"
}

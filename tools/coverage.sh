# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev coverage: the lines of the library, the server and the kernel that their tests run.
COVERAGE_LEAST=95 # percent of the lines, for each of the three

command_coverage() {
    local out=$DEV/coverage
    compilers
    packages 'test -f /usr/include/gmpxx.h' libgmp-dev
    lib_environment
    once "$out/venv.stamp" "$(hash_of requirements/coverage.txt)-$("$PYTHON" -VV)" "coverage: environment from PyPI" \
        "check the network and PyPI access, then run again" venv "$out/venv" '' requirements/coverage.txt
    browser
    step "coverage: C++ tests" "mend the test that failed" coverage_cpp "$out"
    step "coverage: tests of the library" "mend the test that failed" coverage_lib "$out"
    coverage_report "$out" library --omit='*/server/*,*/ros/*,*/replay/*,*/report/*,*/__main__.py'
    coverage_report "$out" server --include='*/gjk_collision/server/*'
    say "   whole reports: .dev/coverage/{kernel,library,server}.txt"
    verdict
}

# coverage_report FOLDER PART COVERAGE-OPTION...: print the lines that no test runs.
coverage_report() {
    local out=$1 part=$2
    shift 2
    step "coverage: $part, at least $COVERAGE_LEAST % of the lines" "write tests for the lines that are named above" \
        coverage_part "$out" "$part" "$@"
    tail -n 1 "$out/$part.txt" >&2
}

coverage_part() {
    local out=$1 part=$2 status=0
    shift 2
    "$out/venv/bin/python" -m coverage report --data-file="$out/python" --show-missing --skip-covered --precision=1 \
        "--fail-under=$COVERAGE_LEAST" "$@" >"$out/$part.txt" || status=$?
    cat "$out/$part.txt"
    return $status
}

# coverage_cpp FOLDER: the kernel's headers. gcovr joins the instances of a template.
coverage_cpp() {
    local out=$1
    find "$DEV/cpp/coverage" -name '*.gcda' -delete 2>/dev/null || true
    cpp_build src_cpp coverage
    cpp_test coverage -j "$(nproc)"
    "$out/venv/bin/gcovr" --root "$ROOT" --filter 'src_cpp/include/gjk/' --object-directory "$DEV/cpp/coverage" \
        --exclude-throw-branches --merge-mode-functions=merge-use-line-0 --gcov-ignore-parse-errors=negative_hits.warn \
        --txt "$out/kernel.txt" --txt-summary --fail-under-line "$COVERAGE_LEAST"
}

# coverage_lib FOLDER: the installed package, with the packages of the library's environment.
coverage_lib() {
    local out=$1 site
    site=$("$DEV/lib/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    rm -f "$out"/python*
    COVERAGE_FILE=$out/python PYTHONSAFEPATH=1 PYTHONPATH=$site PATH=$DEV/lib/venv/bin:$PATH \
        HYPOTHESIS_STORAGE_DIRECTORY=$DEV/hypothesis \
        "$out/venv/bin/python" -m coverage run -m pytest -o "cache_dir=$DEV/pytest_cache" "--numprocesses=$(nproc)" \
        --dist=loadfile --timeout=600 test/lib
    (cd "$out" && "$out/venv/bin/python" -m coverage combine --data-file="$out/python")
}

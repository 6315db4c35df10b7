# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev mutate: mutation testing. The code is changed in a copy of the tree, one change at a time, and the tests run.
# A change that no test notices is a gap in the tests.

command_mutate() {
    local language=${1:-}
    declare -F "mutate_$language" >/dev/null || die "mutate takes cpp or python, not '$language'"
    shift
    "mutate_$language" "$@"
}

# mutate_cpp: the kernel's certificates, exact arithmetic and bounds. src_cpp/mutation/targets.yaml names the files,
# src_cpp/mutation/survivors.yaml the reasons of the mutants that no test can notice.
mutate_cpp() {
    local folder=$DEV/mutate/cpp
    compilers
    packages 'test -f /usr/include/gmpxx.h' libgmp-dev
    environment mutate "$folder/venv" requirements/{lib,test,mutate-cpp}.txt
    "$folder/venv/bin/python" tools/mutants_cpp.py "--folder=$folder" "--results=$DEV/mutate/cpp.jsonl" "$@" ||
        die "too many mutants survived, the tests fail without one, or the checker accepts a contact; see above"
}

# mutate_python [--count=N] [--seed=N] [--processes=N]: the rules of the server
mutate_python() {
    local out=$DEV/mutate/python data
    lib_environment
    environment mutate "$out/venv" requirements/{lib,test,mutate_python}.txt
    data=$(realpath -m "${GJK_TEST_DATA:-../shared/data}")
    mutate_python_tree "$out/tree"
    # The same random tests for each mutant, and fewer of the longest one. A mutant may be as new and as long as another.
    (cd "$out/tree" && PATH=$out/venv/bin:$PATH CI=true GJK_MODEL_EXAMPLES=50 GJK_TEST_DATA=$data PYTHONPATH='' PYTHONDONTWRITEBYTECODE=1 \
        python "$ROOT/tools/mutants_python.py" "--reasons=$ROOT/tools/mutants_python.toml" "$@") ||
        die "mutants survived without a reason, or too many survived; see above"
}

# mutate_python_tree FOLDER: a copy of what the tests need. In its folder mutants/ are mutmut's results (*.meta), which
# stay valid for each function that has not changed, and the mutated package, which is made anew.
mutate_python_tree() {
    local tree=$1
    mkdir -p "$tree/mutants"
    find "$tree/mutants" -type f ! -name '*.meta' ! -name mutmut-stats.json -delete
    find "$tree" -mindepth 1 -maxdepth 1 ! -name mutants -exec rm -rf {} +
    cp -r pyproject.toml gjk_collision test config docs msg srv tools "$tree/"
    cp -r "$(site_of "$DEV/lib/venv/bin/python")"/gjk_collision/{interfaces,_core.*} "$tree/gjk_collision/"
}

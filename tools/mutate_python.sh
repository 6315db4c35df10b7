# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev mutate python: change the rules of the server, and count the changes that the tests notice.

# mutate_python [--count=N] [--seed=N] [--processes=N]
mutate_python() {
    local out=$DEV/mutate/python files=(requirements/{lib,test,mutate_python}.txt) data
    lib_environment
    once "$out/venv.stamp" "$(hash_of "${files[@]}")-$("$PYTHON" -VV)" "mutate: environment from PyPI" \
        "check the network and PyPI access, then run again" venv "$out/venv" '' "${files[@]}"
    data=$(realpath -m "${GJK_TEST_DATA:-../shared/data}")
    mutate_python_tree "$out/tree"
    # The same random tests for each mutant, and fewer of the longest one.
    (cd "$out/tree" && PATH=$out/venv/bin:$PATH CI=true GJK_MODEL_EXAMPLES=50 GJK_TEST_DATA=$data PYTHONPATH='' \
        python "$ROOT/tools/mutants_python.py" "--reasons=$ROOT/tools/mutants_python.toml" "$@") ||
        die "mutants survived without a reason, or too many survived; see above"
}

# mutate_python_tree FOLDER: a copy of what the tests need. In its folder mutants/ are mutmut's results (*.meta), which
# stay valid for each function that has not changed, and the mutated package, which is made anew.
mutate_python_tree() {
    local tree=$1 site
    site=$("$DEV/lib/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    mkdir -p "$tree/mutants"
    find "$tree/mutants" -type f ! -name '*.meta' ! -name mutmut-stats.json -delete
    find "$tree" -mindepth 1 -maxdepth 1 ! -name mutants -exec rm -rf {} +
    cp -r pyproject.toml gjk_collision test config docs msg srv "$tree/"
    cp -r "$site"/gjk_collision/{interfaces,_core.*.so} "$tree/gjk_collision/"
}

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev mutate cpp: mutants of the kernel's certificates, exact arithmetic and bounds. src_cpp/mutation/targets.yaml
# names the files, src_cpp/mutation/survivors.yaml the reasons of the mutants that no test can notice.

mutate_cpp() {
    local folder=$DEV/mutate/cpp files=(requirements/{lib,test,mutate-cpp}.txt)
    compilers
    packages 'test -f /usr/include/gmpxx.h' libgmp-dev
    once "$folder/venv.stamp" "$(hash_of "${files[@]}")-$("$PYTHON" -VV)" "mutate: environment from PyPI" \
        "check the network and PyPI access, then run again" venv "$folder/venv" '' "${files[@]}"
    "$folder/venv/bin/python" tools/mutants_cpp.py "--folder=$folder" "--results=$DEV/mutate/cpp.jsonl" "$@" ||
        die "too many mutants survived, the tests fail without one, or the checker accepts a contact; see above"
}

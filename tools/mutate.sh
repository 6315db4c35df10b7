# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev mutate: mutation testing. The code is changed in a copy of the tree, one change at a time, and the tests run.
# A change that no test notices is a gap in the tests. Each language is a file of its own, tools/mutate_LANGUAGE.sh.
for language in tools/mutate_*.sh; do
    # shellcheck disable=SC1090
    source "$language"
done

command_mutate() {
    local language=${1:-}
    declare -F "mutate_$language" >/dev/null || die "mutate takes cpp or python, not '$language'"
    shift
    "mutate_$language" "$@"
}

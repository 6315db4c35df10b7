# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Steps: print what is done, how long it took, and what to do where it fails. A step is redone only when what it
# depends on has changed.
DEV=$ROOT/.dev
FAILURES=()
mkdir -p "$DEV/logs" "$DEV/results"

say() { printf '%s\n' "$*" >&2; }
die() { say "dev: $*"; exit 1; }

# clock TITLE: show for how long a step runs: on a terminal in its line each second, else every 20 s.
clock() {
    local seconds=0
    while kill -0 "$$" 2>/dev/null; do # the shell that runs the step
        read -rt 1 <> <(:) || ((++seconds)) # a sleep that is no process
        if [[ -t 2 ]]; then
            printf '\r== %-54s%5d s' "$1" "$seconds" >&2
        elif ((seconds % 20 == 0)); then
            printf ' %d s' "$seconds" >&2
        fi
    done
}

# step TITLE HINT COMMAND...: run with its output in a log; a failure is noted in FAILURES.
step() {
    local title=$1 hint=$2 status=0 ticking begin=$EPOCHREALTIME
    local log="$DEV/logs/${title//[^A-Za-z0-9]/-}.log"
    shift 2
    printf '== %-54s' "$title" >&2
    clock "$title" &
    ticking=$!
    set +e
    (set -e; "$@") >"$log" 2>&1
    status=$?
    kill "$ticking"
    wait "$ticking" 2>/dev/null
    set -e
    [[ ! -t 2 ]] || printf '\r== %-54s' "$title" >&2
    LC_ALL=C awk -v a="$begin" -v b="$EPOCHREALTIME" -v s="$status" \
        'BEGIN { printf "%7.1f s%s\n", b - a, s ? "   FAILED" : "" }' >&2
    if ((status)); then
        FAILURES+=("$title")
        tail -n 50 "$log" | sed 's/^/   | /' >&2
        say "   whole log: ${log#"$ROOT"/}"
        ((status <= 128)) || hint="signal $((status - 128)) ended it: look for what sent it (no memory left?), then run again"
        say "   what to do: $hint"
    else # the closing line of pytest or ctest
        sed -nE '/^=+ .* in [0-9.]+s.*=+$|^[0-9]+% tests passed/s/^/   /p' "$log" | tail -n 1 >&2
    fi
}

# must TITLE HINT COMMAND...: a step that everything after it needs.
must() {
    local before=${#FAILURES[@]}
    step "$@"
    ((${#FAILURES[@]} == before)) || exit 1
}

# once STAMP KEY TITLE HINT COMMAND...: a step that is skipped while its key is the one of the last success.
once() {
    local stamp=$1 key=$2
    shift 2
    [[ -f $stamp && $(<"$stamp") == "$key" ]] && return
    rm -f "$stamp"
    must "$@"
    mkdir -p "$(dirname "$stamp")"
    printf '%s' "$key" >"$stamp"
}

# hash_of FILE-OR-FOLDER...: a hash of the names and the contents.
hash_of() {
    find "$@" -type f -not -path '*/__pycache__/*' -not -name '*.pyi' -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
}

# Exit with 1 if a step has failed.
verdict() { ((${#FAILURES[@]} == 0)) || die "failed: $(printf '%s; ' "${FAILURES[@]}")"; }

# Two ./dev at once must not build into one folder.
lock() {
    exec 9>"$DEV/lock"
    flock -w 1 9 || { say "== waiting for another ./dev in this checkout"; flock 9; }
}
unlock() { exec 9>&-; }

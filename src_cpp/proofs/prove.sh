# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev prove: README.md says what is proven.

command_prove() {
    local script change weaker=("${WEAKER[@]}") weaker_sums=("${WEAKER_SUMS[@]}")
    [[ ${1-} == --quick ]] && weaker=() weaker_sums=()
    # shellcheck disable=SC2016 # packages evaluates the tests
    packages 'command -v coqc' coq '[[ -d $(coqc -where)/user-contrib/Flocq ]]' libcoq-flocq \
        'command -v gappa' gappa 'command -v sollya' sollya 'command -v frama-c' frama-c-base 'command -v why3' why3 \
        'command -v z3' z3 'command -v cvc4' cvc4
    step "prove: constants are those of the code" "change the script with the code, then prove it again" \
        "$PYTHON" src_cpp/proofs/quotes.py
    while IFS= read -r script; do
        step "prove: $(basename "$script")" "the bound does not hold, or the script does not prove it: see its comment" \
            proven "$script"
    done < <(find src_cpp/proofs -name '*.gappa' -o -name '*.sollya' | LC_ALL=C sort)
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
    local output script=$DEV/prove/expansion.v original=src_cpp/proofs/expansion.v status=0
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

# Changes of src_cpp/proofs/checker/free_certificate.c that let it accept too much: the function whose proof must then fail, and
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
    frama_c src_cpp/proofs/checker -wp-smoke-tests -wp-smoke-timeout 1 -wp-no-smoke-dead-code -wp-no-smoke-dead-call \
        -wp-no-smoke-dead-loop
}

# checker_weakened CHANGE: whether the checker is not proven with a change of WEAKER.
checker_weakened() {
    local folder=$DEV/prove status=0
    mkdir -p "$folder"
    cp src_cpp/proofs/checker/free_certificate.[ch] "$folder/"
    sed -i "${1#* }" "$folder/free_certificate.c"
    ! cmp -s src_cpp/proofs/checker/free_certificate.c "$folder/free_certificate.c" || { echo "no line has changed"; return 1; }
    frama_c "$folder" -wp-fct "${1%% *}" || status=$?
    ((status == 1))
}

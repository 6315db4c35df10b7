# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev bench: the kernel, scenes, planners and the node beside their peers.

command_bench() {
    local what=kernel
    case ${1:-} in
        --scene | --scale | --node | --planning | --mppi | --one-shot | --summary)
            what=${1#--}
            shift
            ;;
    esac
    "bench_${what//-/_}" "$@"
    [[ " $* " != *" --docs "* ]] || bench_summary
}

# The first table of docs/benchmarks.md, from the tables of all pages.
bench_summary() {
    "$PYTHON" bench/summary.py
}

# bench_options PAGE NAME OPTION...: the options of the script of ./dev bench NAME, which writes into PAGE: OPTIONS.
bench_options() {
    local page=$1 option
    shift
    OPTIONS=("--command=./dev bench $*")
    for option in "${@:2}"; do
        case $option in
            --quick) OPTIONS+=(--quick) ;;
            --docs) OPTIONS+=("--docs=docs/$page.md") ;;
            *) die "bench $1 takes --quick and --docs, not $option" ;;
        esac
    done
}

bench_kernel() {
    local passes=21 cases=20480 docs=() out=$DEV/bench run="./dev bench${*:+ $*}" peers='' option outlines
    for option; do
        case $option in
            --quick) passes=7 cases=2048 ;;
            --docs) docs=(--docs docs/benchmarks.md) ;;
            --peers=*) peers=${option#--peers=} run=${run/"$option"/--peers=DIR} ;;
            *) die "bench takes --quick, --docs and --peers=DIR, not $option" ;;
        esac
    done
    [[ -z $peers || -d $peers ]] ||
        die "--peers=$peers: there is no such folder; see docs/benchmarks.md#peers-from-their-checkouts"
    compilers
    packages 'test -f /usr/include/gmpxx.h' libgmp-dev 'test -f /usr/include/benchmark/benchmark.h' libbenchmark-dev \
        'test -f /usr/include/box2d/box2d.h' libbox2d-dev 'test -f /usr/include/fcl/fcl.h' libfcl-dev \
        'test -f /usr/include/geos_c.h' libgeos-dev \
        'command -v pkg-config' pkg-config
    environment bench "$out/venv" requirements/bench.txt
    must "bench: build" "mend the build error above" cpp_build bench bench \
        "-DGJK_BENCH_COAL=$(site_of "$out/venv/bin/python")/cmeel.prefix" \
        "-DGJK_BENCH_CHECKOUTS=${peers:+$(realpath "$peers")}"
    for outlines in polygons boxes; do
        "$DEV/cpp/bench/gjk_bench" "--benchmark_repetitions=$passes" "--cases=$cases" "--outlines=$outlines" >"$out/$outlines.json" ||
            die "a row of ours was wrong, or the benchmark could not run; see above"
    done
    "$out/venv/bin/python" bench/report.py "$out"/{polygons,boxes}.json "--svg=$out/results.svg" "--command=$run" "${docs[@]}"
}

# bench_python SCRIPT ARGUMENT...: run in the environment of the benchmarks: the peers, and the library that was built.
bench_python() {
    lib_environment
    environment bench "$DEV/bench/venv" requirements/bench.txt
    once "$DEV/bench/peers.stamp" "$(hash_of requirements/bench-scene.txt)-$(<"$DEV/bench/venv.stamp")" \
        "bench: peers from PyPI" "check the network and PyPI access, then run again" scene_peers
    PYTHONSAFEPATH=1 PYTHONPATH=$(site_of "$DEV/lib/venv/bin/python"):$ROOT/bench "$DEV/bench/venv/bin/python" "$@"
}

# Peers of scenes and planners, each where it installs.
scene_peers() {
    local peer
    grep -v '^#' requirements/bench-scene.txt | while read -r peer; do
        "$DEV/bench/venv/bin/python" -m pip install --disable-pip-version-check --only-binary=:all: --no-deps "$peer" ||
            echo "$peer is not for this machine"
    done
}

bench_scene() {
    bench_options benchmarks-scene --scene "$@"
    bench_python bench/scene.py "${OPTIONS[@]}" "--svg=$DEV/bench/scene.svg" \
        --trajectories=../shared/data/planner_US101-3_3_1000_trajectories.json
}

bench_scale() {
    bench_options benchmarks-scene --scale "$@"
    bench_python bench/scale.py "${OPTIONS[@]}"
}

bench_planning() {
    local worlds=../shared/data/planning_worlds.json
    bench_options benchmarks-planning --planning "$@"
    [[ -r $worlds ]] || die "bench --planning needs $worlds, the worlds of Bench-MR"
    bench_python -c 'import ompl' || die "bench --planning needs OMPL, and PyPI has no wheel of it for this machine"
    bench_python bench/planning.py "${OPTIONS[@]}" "--worlds=$worlds"
}

bench_mppi() {
    bench_options benchmarks-planning --mppi "$@"
    compilers
    must "bench: build" "mend the build error above" cpp_build bench bench-mppi
    bench_python bench/mppi.py "${OPTIONS[@]}" "--raster=$DEV/cpp/bench-mppi/libraster.so"
}

bench_one_shot() {
    bench_options benchmarks --one-shot "$@"
    bench_python bench/one_shot.py "${OPTIONS[@]}"
}

bench_node() {
    bench_options benchmarks-node --node "$@"
    ros_environment
    ros_build plain
    in_ros plain python bench/node.py "${OPTIONS[@]}"
}

# ./dev soak [MINUTES]: all kinds of sources at rate, with requests.
command_soak() {
    ros_environment
    ros_build plain
    in_ros plain python bench/soak.py "$@" --output "$DEV/soak.json"
}

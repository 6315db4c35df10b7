# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev wheel: the wheels and the source distribution, as they are published.
WHEEL_MAX=3000000 # bytes, of each file

command_wheel() {
    local out=$DEV/wheel all=0
    if [[ ${1:-} == --all ]]; then all=1; shift; fi
    ((!all)) || docker version >/dev/null 2>&1 ||
        die "wheel --all builds in containers: start Docker (docker version must succeed), or run ./dev wheel for this Python alone"
    ((!all || !$#)) || die "wheel --all takes no further argument: [tool.cibuildwheel] in pyproject.toml names its tests"
    compilers
    lock
    environment wheel "$out/venv" requirements/{lib,wheel}.txt
    rm -rf "$out"/{source,built,dist}
    if ((all)); then
        must "wheel: source distribution" "mend the error above" wheel_build "$out" --sdist
        must "wheel: cibuildwheel, every Python of [tool.cibuildwheel]" "mend it in pyproject.toml, or see above" \
            wheel_all "$out"
    else
        must "wheel: build, from the source distribution" "mend the build error above" wheel_build "$out"
        must "wheel: audit" "the wheel needs a library that not every Linux has: see above" wheel_audit "$out"
    fi
    step "wheel: sizes" "each file may have $WHEEL_MAX bytes: find what is new in it with unzip -l or tar -tvf" \
        wheel_sizes "$out/dist"
    ((all)) || wheel_test "$out" "$@"
    ls -l "$out/dist" >&2
    unlock
    verdict
}

# wheel_build FOLDER [--sdist]: the sdist, and the wheel from it, which shows that the sdist is complete; or the sdist
# alone. A copy is built, because setuptools writes into the folder of its sources.
wheel_build() {
    local out=$1 python=$1/venv/bin/python key
    shift
    key=$(module_key "$python")
    mkdir -p "$out"/{source,dist}
    cp -r gjk_collision src_cpp msg srv test package.xml setup.py pyproject.toml MANIFEST.in README.md LICENSE "$out/source"
    PATH=$out/venv/bin:$PATH python -m build --no-isolation --skip-dependency-check --outdir "$out/built" "$@" "$out/source"
    cp "$out"/built/*.tar.gz "$out/dist/"
    (($#)) && return
    "$python" -m zipfile -e "$out"/built/*.whl "$out/built/unpacked"
    module_keep "$python" "$key" "$out/built/unpacked"
}

# wheel_audit FOLDER: the wheel with the tag of the oldest Linux that it runs on.
wheel_audit() {
    PATH=$1/venv/bin:$PATH auditwheel repair --wheel-dir "$1/dist" "$1"/built/*.whl
    PATH=$1/venv/bin:$PATH auditwheel show "$1"/dist/*.whl
}

wheel_all() (
    cd "$1/source" || exit
    "$1/venv/bin/cibuildwheel" --platform linux --output-dir "$1/dist"
)

wheel_sizes() {
    wc -c "$1"/*
    [[ -z $(find "$1" -type f -size "+${WHEEL_MAX}c") ]]
}

# wheel_test FOLDER PYTEST-ARGUMENT...: first with what the wheel itself asks for, then with the tests' packages.
wheel_test() {
    local out=$1
    shift
    must "wheel: install in an empty environment" "the wheel asks for too little: [project] in pyproject.toml" \
        wheel_install "$out"
    must "wheel: the tests' packages from PyPI" "check the network and PyPI access, then run again" \
        install "$out/test/bin/python" --requirement=requirements/{lib,test,demo,examples}.txt
    browser
    npm_packages
    rm -f "$DEV"/results/wheel.xml
    step "wheel: pytest" "mend it; again with: ./dev wheel -k NAME" in_wheel "$out" library_tests wheel "$@"
    [[ ! -f $DEV/results/wheel.xml ]] || "$PYTHON" test/summary.py "$DEV/results/wheel.xml" || true # counted by the step
}

wheel_install() {
    rm -rf "$1/test"
    "$PYTHON" -m venv "$1/test"
    "$1/test/bin/python" -m pip install --disable-pip-version-check --no-input "$1"/dist/*.whl
    in_wheel "$1" env PYTHONSAFEPATH=1 python -c \
        'from gjk_collision import Shape, collide; assert collide(Shape.circle(1.0), Shape.circle(1.0))'
}

# in_wheel FOLDER COMMAND...: run in the environment with the wheel.
in_wheel() {
    local out=$1
    shift
    unset PYTHONPATH AMENT_PREFIX_PATH
    PATH=$out/test/bin:$PATH "$@"
}

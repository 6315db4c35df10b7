# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""`./dev`: its help names its commands, and a kept compiled module is used only where it fits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEY = f'module_key "{sys.executable}"'
TAKE = f'module_take "{sys.executable}" "$ROOT/taken"'
SUFFIX = "_core.cpython-0-test.so"

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "c++", "cmake"))), reason="bash, c++ or cmake is missing"
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the key of the compiled module is made from, and a module that a build installed."""
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    no_corpus = shutil.ignore_patterns("corpus")
    shutil.copytree(ROOT / "src_cpp", tmp_path / "src_cpp", ignore=no_corpus)
    for package, text in (("gjk_collision", "compiled"), ("scipy", "another package's")):
        (tmp_path / "installed" / package).mkdir(parents=True)
        (tmp_path / "installed" / package / SUFFIX).write_text(text)
    return tmp_path


def run(checkout: Path, script: str, **environment: str) -> str:
    """Run a script with the functions of tools/module.sh; return what it prints."""
    sources = "set -euo pipefail; source tools/steps.sh; source tools/module.sh; "
    done = subprocess.run(
        ["bash", "-c", sources + script],
        cwd=checkout,
        env={**os.environ, "ROOT": str(checkout), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def keep(checkout: Path, meanwhile: str = ":") -> None:
    """Build a module, during which something may happen, and keep it."""
    python = sys.executable
    run(checkout, f'key=$({KEY}); {meanwhile}; module_keep "{python}" "$key" "$ROOT/installed"')


def test_help_names_every_command() -> None:
    """A command that the help does not name is not found; a name without a command fails."""
    shown = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    named = set(re.findall(r"^  ([a-z]+)(?= )", shown.stdout, re.MULTILINE))
    files = [ROOT / "dev", *(ROOT / "tools").glob("*.sh")]
    defined = {
        name
        for file in files
        for name in re.findall(r"^command_(\w+)\(\)", file.read_text(), re.MULTILINE)
    }
    assert named == defined


def test_an_unknown_command_fails() -> None:
    """A misspelt command must not look like a success."""
    done = subprocess.run([ROOT / "dev", "tset"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no command 'tset'" in done.stderr


def test_a_kept_module_is_taken_while_nothing_has_changed(checkout: Path) -> None:
    """Otherwise every workspace compiles the module again."""
    assert run(checkout, TAKE) == ""
    keep(checkout)
    taken = run(checkout, TAKE)
    assert taken == str(checkout / "taken" / SUFFIX)
    assert Path(taken).read_text() == "compiled"


@pytest.mark.parametrize("pattern", ["include/**/*.hpp", "bindings/*.cpp", "CMakeLists.txt"])
def test_a_module_of_other_sources_is_not_taken(checkout: Path, pattern: str) -> None:
    """A stale module would be tested in place of the sources."""
    keep(checkout)
    with next((checkout / "src_cpp").glob(pattern)).open("a") as source:
        source.write("\n")
    assert run(checkout, TAKE) == ""
    assert not (checkout / "taken").exists()


def test_a_module_of_other_flags_is_not_taken(checkout: Path) -> None:
    """Flags change the arithmetic of the module."""
    keep(checkout)
    assert run(checkout, TAKE, CXXFLAGS="-ffast-math") == ""
    assert run(checkout, TAKE) != ""


def test_a_module_of_another_python_is_not_taken(checkout: Path) -> None:
    """It is of another ABI."""
    keep(checkout)
    other = checkout / "python"
    version = '[ "$1" != -VV ] || exec echo other'
    other.write_text(f'#!/bin/sh\n{version}\nexec {sys.executable} "$@"\n')
    other.chmod(0o755)
    assert run(checkout, TAKE.replace(sys.executable, str(other))) == ""


def test_a_module_is_not_kept_if_a_source_changed_while_it_was_built(checkout: Path) -> None:
    """It is made from neither the sources before nor those after."""
    keep(checkout, meanwhile="echo >>src_cpp/bindings/module.cpp")
    assert run(checkout, TAKE) == ""
    assert not list((checkout / ".dev").rglob("_core*"))


def test_a_new_environment_is_installed_into(checkout: Path) -> None:
    """Making an environment deletes the package that was installed in the old one."""
    keys = run(
        checkout,
        """
        source tools/build.sh
        compilers() { :; }; lib_venv() { :; }; hash_of() { echo unchanged; }; once() { echo "$2"; }
        mkdir -p "$DEV/lib"
        for environment in first second; do
            echo "$environment" >"$DEV/lib/venv.stamp"
            lib_environment
        done
        """,
    ).splitlines()
    assert len(keys) == len(set(keys)) == 2


@pytest.mark.parametrize(
    ("total", "counted", "row", "fails"),
    [
        ("TOTAL        1000     50    95.0%", "missed", "1000        50      95.0", False),
        ("TOTAL        1000     51    94.9%", "missed", "1000        51      94.9", True),
        ("TOTAL  1000  950  95%", "run", "1000        50      95.0", False),
        ("TOTAL  1000  949  94%", "run", "1000        51      94.9", True),
        ("", "run", "no data", True),
    ],
)
def test_coverage_fails_below_its_limit_and_without_data(
    total: str, counted: str, row: str, fails: bool, checkout: Path
) -> None:
    (checkout / ".dev/coverage").mkdir(parents=True)
    (checkout / ".dev/coverage/kernel.txt").write_text(f"a.hpp 9 9 100%\n{total}\n")
    judge = f"source tools/coverage.sh; coverage_row kernel {counted}; echo ${{#FAILURES[@]}}"
    said = run(checkout, judge).split("\n")
    assert said[0].startswith("kernel") and row in said[0]
    assert said[1] == str(int(fails))

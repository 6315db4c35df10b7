# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""An installation without its kernel or without an extra: the error says what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from write_scenarios import write

from gjk_collision import __main__ as cli

ROOT = Path(__file__).parents[2]
ISOLATED = """
import setuptools, subprocess, sys
setuptools.setup = lambda **made: globals().update(made)
__file__ = "setup.py"
exec(open(__file__).read())
build = cmdclass["build_ext"](setuptools.Distribution({"name": "x"}))
build.build_module = lambda target: None
build.get_ext_fullpath = lambda name: sys.argv[1]
run, command = subprocess.run, "import of_pip, sys; print(sys.path)"
subprocess.run = lambda words, **options: run([sys.executable, "-c", command], **options)
build.build_extension(ext_modules[0])
"""
USES = [["-c", "from gjk_collision import Shape"], ["-m", "gjk_collision", "replay", "drive"]]


def test_the_stub_is_generated_in_the_build_environment_of_pip(tmp_path: Path) -> None:
    """pip passes its packages in PYTHONPATH, and has no others than those of build-system."""
    pytest.importorskip("setuptools")
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "of_pip.py").touch()
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "pip")}
    words = [sys.executable, "-c", ISOLATED, str(tmp_path / "module.so")]
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"'{tmp_path.parent}'" in done.stdout
    requires = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.M)
    assert requires is not None
    assert '"numpy>=' in requires[1]  # the generator looks its types up


@pytest.mark.parametrize("words", USES, ids=["library", "replay"])
def test_the_source_folder_says_to_install(tmp_path: Path, words: list[str]) -> None:
    """A newcomer's first script is often started in the clone."""
    source = ROOT / "gjk_collision"
    shutil.copytree(source, tmp_path / "gjk_collision", ignore=shutil.ignore_patterns("*.so"))
    # The suite sets PYTHONSAFEPATH.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    given: dict[str, Any] = {"cwd": tmp_path, "env": env, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, *words], **given, check=False)
    assert done.returncode != 0
    assert f"is not in {tmp_path / 'gjk_collision'} for Python" in done.stderr
    assert "run 'pip install .' in the clone, then start Python in another folder" in done.stderr
    assert ("Traceback" in done.stderr) == (words[0] == "-c")


@pytest.mark.parametrize(
    ("name", "packages", "extra"),
    [("rosbags", cli.REPLAY, "replay"), ("distributed", "distributed", "cluster")],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    packages: str,
    extra: str,
) -> None:
    """`pip install gjk_collision[replay]` would need a package index that has gjk_collision."""

    def without_package(_: object) -> int:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(cli, "_info", without_package)
    assert cli.main(["info"]) == cli.REFUSED
    text = f"this command needs the Python package '{name}': pip install {packages}"
    text += f" (in a clone: pip install '.[{extra}]')\n"
    assert capsys.readouterr().err == text


def test_a_bag_that_needs_a_missing_package_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = write(tmp_path, "approach")
    monkeypatch.setitem(sys.modules, "mcap.reader", None)
    assert cli.main(["info", str(bag)]) == cli.REFUSED
    assert "this command needs the Python package 'mcap" in capsys.readouterr().err


def test_the_packages_are_those_of_the_extra() -> None:
    extra = re.search(r"^replay = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert extra is not None
    packages = re.findall(r'"([\w-]+)', extra.group(1))
    assert packages == cli.REPLAY.split()

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What packagers and build servers read: workflows, addresses, versions of Python, quality."""

from __future__ import annotations

import os
import re
import subprocess
import xml.etree.ElementTree as ET
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())
ACTIONS = {"actions/checkout", "actions/upload-artifact"}
PYPROJECT = (ROOT / "pyproject.toml").read_text()


def commands_of_dev() -> set[str]:
    shown = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^  ([a-z]+)(?= )", shown.stdout, re.MULTILINE))


def runs(job: dict[str, Any]) -> list[str]:
    """Return the commands of a job, with each combination of its matrix filled in."""
    matrix: dict[str, list[str]] = job.get("strategy", {}).get("matrix", {})
    found = [step["run"] for step in job["steps"] if "run" in step]
    for name, values in matrix.items():
        text = f"${{{{ matrix.{name} }}}}"
        found = [run.replace(text, value) for run, value in product(found, values)]
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_only_call_dev(path: Path) -> None:
    """What a build server does, a developer can do: a failure there can be repeated here."""
    commands = commands_of_dev()
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        assert {step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step} <= (
            ACTIONS
        )
        assert runs(job)
        for run in runs(job):
            called = re.fullmatch(r"\./dev ([a-z]+)( [^;&|\n]*)?", run)
            assert called, f"{path.name}: {run}"
            assert called.group(1) in commands, f"{path.name}: {run}"


def test_addresses_are_in_package_xml_alone() -> None:
    """The owner fills them in once. A forgotten copy would lead reports nowhere."""
    package = ET.parse(ROOT / "package.xml").getroot()
    maintainer = package.find("maintainer")
    assert maintainer is not None
    addresses = [maintainer.attrib["email"], *(url.text or "" for url in package.iter("url"))]
    assert {url.attrib["type"] for url in package.iter("url")} == {
        "website",
        "repository",
        "bugtracker",
    }
    for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "pyproject.toml", "setup.py"):
        text = (ROOT / name).read_text()
        assert not [address for address in addresses if address in text], name


def test_wheels_begin_with_the_oldest_python_that_is_required() -> None:
    required = re.search(r'^requires-python = ">=3\.(\d+)"$', PYPROJECT, re.MULTILINE)
    built = re.search(r'^build = "cp3\{([\d,]+)\}-manylinux', PYPROJECT, re.MULTILINE)
    assert required is not None
    assert built is not None
    minors = [int(minor) for minor in built.group(1).split(",")]
    assert minors == list(range(int(required.group(1)), minors[-1] + 1))
    assert f"CPython 3.{minors[0]} to 3.{minors[-1]}" in (ROOT / "docs/versions.md").read_text()


def test_every_source_file_names_its_licence() -> None:
    """REP-2004, 3.iv. Formats without comments, pictures and inputs of the fuzzers cannot."""
    if not (ROOT / ".git").exists():
        pytest.skip("the files of the repository are known in a clone only")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    without = (".json", ".png", ".svg", ".gif", ".typed", "LICENSE", "CHANGELOG.rst")
    files = [
        name
        for name in listed.stdout.splitlines()
        if not name.endswith(without) and "fuzz/corpus/" not in name and (ROOT / name).exists()
    ]
    assert len(files) > 300
    lines = [
        "SPDX-FileCopyrightText: gjk_collision contributors",
        "SPDX-License-Identifier: Apache-2.0",
    ]
    for name in files:
        head = (ROOT / name).read_text()[:400]
        assert all(line in head for line in lines), name


def test_the_declared_quality_level_fits_the_version() -> None:
    """REP-2004: only level 4 is for versions before 1.0.0."""
    version = ET.parse(ROOT / "package.xml").findtext("version") or ""
    text = (ROOT / "docs/quality_declaration.md").read_text()
    level = re.search(r"\*\*Quality Level (\d)\*\*", text)
    assert level is not None
    assert int(version.split(".")[0]) >= 1 or level.group(1) == "4"


def test_wheels_of_all_pythons_need_a_running_docker(tmp_path: Path) -> None:
    """Docker may be there without its daemon. This is found before anything is built."""
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\nexit 1\n")
    docker.chmod(0o755)
    script = (
        "set -euo pipefail; source tools/steps.sh; source tools/release.sh; "
        "compilers() { die 'it goes on'; }; command_wheel --all"
    )
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ROOT": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "start Docker (docker version must succeed)" in done.stderr
    assert "it goes on" not in done.stderr

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The package under test is the installed one: else every other result is worthless."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import gjk_collision
from gjk_collision import _core

ROOT = Path(__file__).parents[2]


def test_the_checkout_does_not_shadow_the_installed_package() -> None:
    for module in (gjk_collision, _core):
        assert module.__file__ is not None
        assert ROOT / "gjk_collision" not in Path(module.__file__).parents


def test_nor_in_a_child_process_started_from_the_checkout() -> None:
    command = [sys.executable, "-c", "import gjk_collision; print(gjk_collision.__file__)"]
    child = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert child.stdout.strip() == gjk_collision.__file__


def test_version_is_that_of_package_xml() -> None:
    assert gjk_collision.__version__ == ET.parse(ROOT / "package.xml").findtext("version")


def test_package_is_typed() -> None:
    folder = Path(gjk_collision.__file__).parent
    assert (folder / "py.typed").exists()
    by_colcon = (folder / "msg").exists()  # its build has no generator of stubs
    assert (folder / "_core.pyi").exists() != by_colcon

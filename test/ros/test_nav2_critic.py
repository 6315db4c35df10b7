# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The critic in examples/nav2_critic, built and loaded by nav2."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from consumers import Consumer, needs_cmake, run

pytestmark = needs_cmake

EXAMPLE = Path(__file__).parents[2] / "examples/nav2_critic"
PYTHON = f"-DPython3_EXECUTABLE={sys.executable}"


def test_the_tests_of_the_package_pass(tmp_path: Path) -> None:
    find = 'find_package(nav2_mppi_controller QUIET)\nmessage("is ${nav2_mppi_controller_FOUND}")'
    if "is 1" not in Consumer(tmp_path / "probe", find).configure(PYTHON).stdout:
        pytest.skip("nav2_mppi_controller is not installed")
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    # pluginlib and the loader find the plugin in its installation.
    env = dict(os.environ)
    for name, folder in (("AMENT_PREFIX_PATH", prefix), ("LD_LIBRARY_PATH", prefix / "lib")):
        env[name] = f"{folder}:{env.get(name, '')}"
    for command in (
        ("cmake", "-S", EXAMPLE, "-B", build, f"-DCMAKE_INSTALL_PREFIX={prefix}", PYTHON),
        ("cmake", "--build", build, "--target", "install"),
        ("ctest", "--test-dir", build, "--output-on-failure"),
    ):
        done = run(*command, env=env)
        assert done.returncode == 0, done.stdout

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""find_package(gjk_collision) in the colcon workspace: interfaces, kernel, or both."""

from __future__ import annotations

import sys
from pathlib import Path

from consumers import USES_KERNEL, Consumer, needs_cmake, run, without_ros

import gjk_collision

pytestmark = needs_cmake

PREFIX = Path(gjk_collision.__file__).parents[4]
FIND = "find_package(gjk_collision {} REQUIRED)\nadd_executable(main main.cpp)\n"
KERNEL = "target_link_libraries(main PRIVATE gjk_collision::kernel)\n"
INTERFACES = "target_link_libraries(main PRIVATE ${gjk_collision_TARGETS})\n"
USES_INTERFACES = """
#include <gjk_collision/srv/collide.hpp>
int main() { return gjk_collision::srv::Collide::Response().is_free ? 1 : 0; }
"""
PYTHON = f"-DPython3_EXECUTABLE={sys.executable}"


def test_the_kernel_is_found_without_ros(tmp_path: Path) -> None:
    consumer = Consumer(tmp_path / "c", FIND.format("") + KERNEL, main=USES_KERNEL)
    consumer.make(f"-DCMAKE_PREFIX_PATH={PREFIX}", env=without_ros())
    assert run(consumer.build / "main").returncode == 0


def test_the_kernel_is_found_beside_ros(tmp_path: Path) -> None:
    consumer = Consumer(tmp_path / "c", FIND.format("") + KERNEL + INTERFACES, main=USES_KERNEL)
    done = consumer.configure(PYTHON)
    assert done.returncode == 0, done.stdout
    assert "-ffp-contract=off" in consumer.compile_command("main")


def test_users_of_the_interfaces_do_not_get_the_flags_of_the_kernel(tmp_path: Path) -> None:
    cmake = FIND.format("") + INTERFACES
    consumer = Consumer(tmp_path / "c", cmake, main=USES_INTERFACES)
    done = consumer.configure(PYTHON)
    assert done.returncode == 0, done.stdout
    command = consumer.compile_command("main")
    assert not [word for word in command if "ffp-contract" in word or "fast-math" in word]
    assert not [word for word in command if word.startswith(("-std", "-DGJK"))]
    # The program is not linked: that needs more libraries than some installations of ROS bring.
    compiled = run(*command, "-fsyntax-only")
    assert compiled.returncode == 0, compiled.stdout

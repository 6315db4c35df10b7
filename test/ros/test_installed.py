# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What colcon installs: library and generated interfaces in one package, programs, share."""

import os
from pathlib import Path

import gjk_collision.msg
import gjk_collision.srv
import pytest

import gjk_collision
from gjk_collision.verdict import Status, Verdict

PREFIX = Path(gjk_collision.__file__).parents[4]


def test_library_and_interfaces_are_one_package() -> None:
    assert Path(gjk_collision.msg.__file__).parents[1] == Path(gjk_collision.__file__).parent
    assert gjk_collision.Shape.circle(1.0).radius == 1.0
    assert gjk_collision.msg.Verdict().verdict == gjk_collision.msg.Verdict.UNKNOWN
    assert gjk_collision.srv.CheckPoses.Request.MODE_WITNESS == 2


def test_enumerations_equal_the_message_constants() -> None:
    message = gjk_collision.msg.Verdict
    upper = {name: getattr(message, name) for name in dir(message) if name.isupper()}
    constants = {name: value for name, value in upper.items() if isinstance(value, int)}
    assert constants == {member.name: member.value for member in (*Verdict, *Status)}


def test_programs_are_executable() -> None:
    programs = list((PREFIX / "lib" / "gjk_collision").iterdir())
    assert "collision_server" in {program.name for program in programs}
    assert all(os.access(program, os.X_OK) for program in programs)


@pytest.mark.parametrize("folder", ["launch", "config"])
def test_share_holds_launch_and_config(folder: str) -> None:
    assert any((PREFIX / "share" / "gjk_collision" / folder).iterdir())

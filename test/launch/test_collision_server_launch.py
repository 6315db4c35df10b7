# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch file does what its arguments say."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("launch", reason="launch is not installed")
pytest.importorskip("launch_ros", reason="launch_ros is not installed")
pytest.importorskip("launch_pytest", reason="launch_pytest is not installed")

import launch_pytest
from ament_index_python import get_package_share_directory
from builtin_interfaces.msg import Time
from gjk_collision.msg import ObstacleArray
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_pytest.actions import ReadyToTest
from server import BOX, Bench, said

from gjk_collision.fields import nanoseconds
from gjk_collision.verdict import Status, Verdict

NOT_ACTIVE = (Verdict.UNKNOWN, Status.NOT_ACTIVE)
FREE = (Verdict.FREE, Status.SUCCESS)

pids: list[int] = []


def started(**arguments: str) -> LaunchDescription:
    """The launch file with these arguments; `pids` names the processes that it has started."""
    folder = Path(get_package_share_directory("gjk_collision"), "launch")
    source = PythonLaunchDescriptionSource(str(folder / "collision_server.launch.py"))
    pids.clear()
    return LaunchDescription(
        [
            RegisterEventHandler(
                OnProcessStart(on_start=lambda event, context: pids.append(event.pid))
            ),
            IncludeLaunchDescription(source, launch_arguments=arguments.items()),
            ReadyToTest(),
        ]
    )


@launch_pytest.fixture
def plain() -> LaunchDescription:
    return started()


@launch_pytest.fixture
def waiting() -> LaunchDescription:
    return started(namespace="robot", autostart="false", log_level="warn")


@launch_pytest.fixture
def own_parameters(tmp_path: Path) -> LaunchDescription:
    file = tmp_path / "own.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n"
        f"    footprint: {BOX}\n    state_rate: 20.0\n    safety_margin: 0.5\n"
    )
    return started(params_file=str(file), respawn="true")


@launch_pytest.fixture
def sim_time() -> LaunchDescription:
    return started(use_sim_time="true")


def talking_to(name: str) -> Iterator[Bench]:
    bench = Bench(name)
    try:
        yield bench
    finally:
        bench.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    yield from talking_to("collision_server")


@pytest.fixture
def bench_of_robot() -> Iterator[Bench]:
    yield from talking_to("robot/collision_server")


@pytest.mark.launch(fixture=plain)
def test_by_default_the_server_activates_itself(bench: Bench) -> None:
    bench.publish()
    bench.until_status(Verdict.UNKNOWN, Status.NO_FOOTPRINT)


@pytest.mark.launch(fixture=waiting)
def test_namespace_and_autostart(bench_of_robot: Bench) -> None:
    assert said(bench_of_robot.collide()) == NOT_ACTIVE
    assert bench_of_robot.transition("configure")
    assert bench_of_robot.transition("activate")
    bench_of_robot.until_status(Verdict.UNKNOWN, Status.NO_FOOTPRINT)


@pytest.mark.requirement("N-8")
@pytest.mark.launch(fixture=own_parameters)
def test_parameter_file_and_respawn(bench: Bench) -> None:
    """A killed server comes back by itself, knowing nothing."""
    bench.publish()
    reply = bench.until_status(*FREE, x=3.0)
    assert said(bench.collide(2.4)) == (Verdict.MARGIN, Status.SUCCESS)
    assert reply.info.footprint_age == 0.0
    bench.until(lambda: bench.states, "heartbeat")
    os.kill(pids[-1], signal.SIGKILL)
    end = bench.node.get_clock().now().nanoseconds
    bench.stop_publishing()
    bench.met.clear()  # the first reply of the new process may be lost
    bench.until(
        lambda: nanoseconds(bench.states[-1].header.stamp) > end, "the heartbeat of a new process"
    )
    bench.until_status(Verdict.UNKNOWN, Status.NO_OBSTACLES)
    assert len(pids) == 2


@pytest.mark.requirement("D-8")
@pytest.mark.launch(fixture=sim_time)
def test_use_sim_time(bench: Bench) -> None:
    """With nobody to say what time it is, nothing is free."""
    assert bench.get("use_sim_time") == [True]

    def without_time() -> ObstacleArray:
        message = bench.array()
        message.header.stamp = Time()
        return message

    bench.publish(without_time)
    bench.until_status(Verdict.UNKNOWN, Status.CLOCK_JUMP)

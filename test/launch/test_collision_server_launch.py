# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch file does what its arguments say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("launch", reason="launch is not installed")
pytest.importorskip("launch_ros", reason="launch_ros is not installed")
pytest.importorskip("launch_pytest", reason="launch_pytest is not installed")

import launch_pytest
from ament_index_python import PackageNotFoundError, get_package_prefix
from builtin_interfaces.msg import Time
from gjk_collision.msg import ObstacleArray
from launch import LaunchDescription
from launch.actions import (
    GroupAction,
    IncludeLaunchDescription,
    RegisterEventHandler,
    SetLaunchConfiguration,
)
from launch.event_handlers import OnProcessStart
from launch_pytest.actions import ReadyToTest
from launch_ros.actions import PushRosNamespace, SetParameter, SetParametersFromFile
from launch_xml.launch_description_sources import XMLLaunchDescriptionSource
from launched import included
from rcl_interfaces.srv import GetLoggerLevels
from rclpy.logging import LoggingSeverity
from server import BOX, Bench, said

from gjk_collision.server.frames.fields import nanoseconds
from gjk_collision.verdict import Status, Verdict

NOT_ACTIVE = (Verdict.UNKNOWN, Status.NOT_ACTIVE)
FREE = (Verdict.FREE, Status.SUCCESS)

pids: list[int] = []


def started(**arguments: str) -> LaunchDescription:
    """The launch file with these arguments; `pids` names the processes that it has started."""
    pids.clear()
    return LaunchDescription(
        [
            RegisterEventHandler(
                OnProcessStart(on_start=lambda event, context: pids.append(event.pid))
            ),
            included(**arguments),
            ReadyToTest(),
        ]
    )


# In a process of its own: launch's log and exit code are those that a person sees.
REFUSED = """
import sys
from launch import LaunchDescription, LaunchService
sys.path.insert(0, {folder!r})
from launched import included
typed = [f"{{name}}:={{value}}" for name, value in {arguments!r}.items()]
sys.argv = ["ros2", "launch", "gjk_collision", "collision_server.launch.py", *typed]
service = LaunchService(argv=typed)
service.include_launch_description(LaunchDescription([included(**{arguments!r})]))
sys.exit(service.run())
"""


def refused(**arguments: str) -> str:
    """Launch with bad arguments; return the output, after it ended by itself without a node."""
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "ros")]
    program = f"import sys; sys.path.append({folders[1]!r})" + REFUSED.format(
        folder=folders[0], arguments=arguments
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text, _ = process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # of what was left behind
    assert process.returncode == 1, text
    assert "process started" not in text
    assert "Traceback" not in text
    return text


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
    return started(params_file=str(file), respawn="True")


@launch_pytest.fixture
def sim_time() -> LaunchDescription:
    return started(use_sim_time="True", autostart="True", rviz="False")


def around(way: str, folder: Path, **arguments: str) -> LaunchDescription:
    """The launch file in a group with a margin for all nodes of the group, set in one of WAYS."""
    if way == "xml":
        file = folder / "robot.launch.xml"
        server = "$(find-pkg-share gjk_collision)/launch/collision_server.launch.py"
        given = "".join(f'<arg name="{k}" value="{v}"/>' for k, v in arguments.items())
        file.write_text(
            '<launch><group><set_parameter name="safety_margin" value="0.7"/>'
            '<set_parameter name="robot_radius" value="1.0"/>'
            f'<include file="{server}">{given}</include></group></launch>'
        )
        group = IncludeLaunchDescription(XMLLaunchDescriptionSource(str(file)))
        return LaunchDescription([group, ReadyToTest()])
    if way == "file":
        file = folder / "all.yaml"
        text = "{safety_margin: 0.7, robot_radius: 1.0}"
        file.write_text(f"/**:\n  ros__parameters: {text}\n")
        setting = [SetParametersFromFile(str(file))]
    else:
        setting = [SetParameter("safety_margin", 0.7), SetParameter("robot_radius", 1.0)]
    return LaunchDescription([GroupAction([*setting, included(**arguments)]), ReadyToTest()])


WAYS = ["python", "xml", "file"]


@launch_pytest.fixture(params=WAYS)
def in_group(request: pytest.FixtureRequest, tmp_path: Path) -> LaunchDescription:
    return around(request.param, tmp_path)


@launch_pytest.fixture
def in_group_with_file(tmp_path: Path) -> LaunchDescription:
    file = tmp_path / "own.yaml"
    file.write_text("/**:\n  ros__parameters: {safety_margin: 0.0}\n")
    return around("python", tmp_path, params_file=str(file))


@launch_pytest.fixture
def twice(tmp_path: Path) -> LaunchDescription:
    """Two robots: a group keeps the arguments of one include from the next."""
    file = tmp_path / "own.yaml"
    file.write_text(
        "/r1/collision_server:\n  ros__parameters: {safety_margin: 0.5}\n"
        "/r2/collision_server:\n  ros__parameters: {safety_margin: 0.25}\n"
    )
    first = included(namespace="r1", params_file=str(file), autostart="false")
    second = included(namespace="r2", params_file=str(file))
    return LaunchDescription([GroupAction([first]), GroupAction([second]), ReadyToTest()])


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


@pytest.fixture
def benches() -> Iterator[list[Bench]]:
    made = [Bench(f"{robot}/collision_server") for robot in ("r1", "r2")]
    yield made
    for each in made:
        each.close()


@pytest.mark.launch(fixture=twice)
def test_included_twice(benches: list[Bench]) -> None:
    first, second = benches
    assert first.get("safety_margin", "autostart") == [0.5, False]
    assert second.get("safety_margin", "autostart") == [0.25, True]
    assert "not configured" in first.collide().verdict.message
    second.until_status(Verdict.UNKNOWN, Status.NO_FOOTPRINT)


@pytest.mark.launch(fixture=in_group)
def test_parameters_around_the_launch_file_are_used(bench: Bench) -> None:
    """A default parameter file would replace them: the pose with a gap of 0.5 m would be FREE."""
    bench.publish()
    bench.until_status(*FREE, x=2.8)
    assert said(bench.collide(2.5)) == (Verdict.MARGIN, Status.SUCCESS)
    assert bench.get("safety_margin") == [0.7]


@pytest.mark.launch(fixture=in_group_with_file)
def test_parameter_around_the_launch_file_that_its_file_replaces_is_refused(bench: Bench) -> None:
    reply = bench.collide()
    assert said(reply) == NOT_ACTIVE
    assert "is not used" in reply.verdict.message


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"params_file": "/nonexistent.yaml"},
            "params_file: the file '/nonexistent.yaml' does not exist",
        ),
        ({"log_level": "bogus"}, "log_level: must be debug | info | warn | error | fatal"),
        ({"log_level": ""}, "log_level: must be"),
        ({"respawn": "perhaps"}, "respawn"),
        ({"param_file": "/own.yaml"}, "param_file: is not an argument"),
        ({"auto_start": "false"}, "did you mean 'autostart'?"),
        ({"enclave": "/server"}, "enclave: has no effect"),
        ({"remappings": "obstacles:= things"}, "remappings: must be rules"),
    ],
)
def test_bad_argument_starts_nothing(arguments: dict[str, str], words: str) -> None:
    assert words in refused(**arguments)


def test_unknown_argument_on_the_command_line_starts_nothing() -> None:
    """`ros2 launch` accepts any name: without this, the node would run with its defaults."""
    assert "config: is not an argument of collision_server" in refused(config="/own.yaml")


@launch_pytest.fixture
def inside() -> LaunchDescription:
    """As an including file with arguments of its own, of which one is like a given one of ours."""
    own = {"config": "/own.yaml", "name_space": "other", "use_namespace": "true"}
    setting = [SetLaunchConfiguration(*each) for each in own.items()]
    logger = {"name": "front", "log_level": "front:=debug"}
    remappings = "obstacles:=things footprint:=/outline"
    server = included(namespace="robot", autostart="false", remappings=remappings, **logger)
    group = [PushRosNamespace("fleet"), *setting, server]
    return LaunchDescription([GroupAction(group), ReadyToTest()])


@pytest.mark.launch(fixture=inside)
def test_name_remappings_and_level_of_a_logger_in_namespaces() -> None:
    bench = Bench("fleet/robot/front")
    try:
        assert said(bench.collide()) == NOT_ACTIVE
        assert bench.transition("configure")
        subscribed = bench.node.get_subscriber_names_and_types_by_node
        names = bench.until(lambda: dict(subscribed("front", "/fleet/robot")), "the topics")
        assert {"/fleet/robot/things", "/outline"} <= names.keys()
        kind = GetLoggerLevels
        client = bench.node.create_client(kind, "/fleet/robot/front/get_logger_levels")
        request = kind.Request(names=["fleet.robot.front", "rcl"])
        levels = bench.first_reply(client, request).levels
        assert levels[0].level == LoggingSeverity.DEBUG
        assert levels[1].level != LoggingSeverity.DEBUG
    finally:
        bench.close()


def test_rviz_that_is_not_installed_starts_nothing() -> None:
    """Otherwise the server would stay behind, active, when the launch fails."""
    try:
        get_package_prefix("rviz2")
    except PackageNotFoundError:
        assert "rviz: the package rviz2 is not installed" in refused(rviz="true")
    else:
        pytest.skip("rviz2 is installed")

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter files, types and ranges, as a node of rclpy takes them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import pytest
import rclpy
from geometry_msgs.msg import PolygonStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import DescribeParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from server import BOX, DEADLINE, Bench, Server, said

from gjk_collision.errors import InputError
from gjk_collision.server.parameters.config import Config, parameter_facts
from gjk_collision.server.parameters.files import check_values, read_sections
from gjk_collision.verdict import Status, Verdict

NOT_ACTIVE = (Verdict.UNKNOWN, Status.NOT_ACTIVE)
FREE = (Verdict.FREE, Status.SUCCESS)

Start = Callable[..., tuple[Server, Bench]]

KEYS = (
    ["/**", "**", "/*", "*", "/*/*", "/**/**", "/**/collision_server", "/*/collision_server"]
    + ["collision_server", "/collision_server", "r1/collision_server", "/r1/collision_server"]
    + ["/r1/**", "/r1/*", "/collision", "/r1/a/collision_server", "/r1/a/*"]
)


@pytest.mark.parametrize("namespace", ["/", "/r1", "/r1/a"])
def test_sections_apply_as_rcl_applies_them(namespace: str, tmp_path: Path) -> None:
    """What rclpy gives a node from a file is the oracle of `Section.applies_to`."""
    files = [
        *(f'"{key}":\n  ros__parameters: {{x: 1}}\n' for key in KEYS),
        "r1:\n  collision_server:\n    ros__parameters: {x: 1}\n",
        "/**:\n  collision_server:\n    ros__parameters: {x: 1}\n",
    ]
    found = []
    for text in files:
        path = tmp_path / "own.yaml"
        path.write_text(text)
        context = rclpy.Context()
        arguments = ["--ros-args", "-r", f"__ns:={namespace}", "--params-file", str(path)]
        rclpy.init(args=arguments, context=context)
        node = rclpy.create_node("collision_server", context=context, enable_rosout=False)
        name = node.get_fully_qualified_name()
        applied = bool(node._parameter_overrides)
        node.destroy_node()
        rclpy.shutdown(context=context)
        (section,) = read_sections(path)
        assert section.applies_to(name) == applied, (text, name)
        found.append(applied)
    assert 0 < sum(found) < len(found)


def file_of(folder: Path, text: str) -> str:
    path = folder / "own.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.requirement("N-4")
def test_file_of_which_nothing_applies_is_refused_by_name(start: Start, tmp_path: Path) -> None:
    """Otherwise the node would be active with defaults: margins of 0."""
    file = file_of(tmp_path, "unrooted:\n  ros__parameters: {safety_margin: 1.0}\n")
    _, bench = start("r1/unrooted", __ns="/r1", params_file=file)
    reply = bench.collide()
    assert said(reply) == NOT_ACTIVE
    for words in ("configure failed", file, "'/r1/unrooted'", "(keys: '/unrooted')"):
        assert words in reply.verdict.message
    assert not bench.transition("configure")


def test_values_on_the_command_line_are_used_as_rcl_uses_them(tmp_path: Path) -> None:
    """What rclpy gives a node is the oracle: a value of a file in place of a typed one is refused.

    Launch passes `SetParameter` as a value before the files: a margin would be lost in silence.
    """
    words = [["-p", "x:=1"], ["-p", "n:x:=1"]]
    for name, key in {"all": "/**", "any": "/*", "own": "/n", "plain": "n"}.items():
        path = tmp_path / name
        path.write_text(f'"{key}":\n  ros__parameters: {{x: 2}}\n')
        words.append(["--params-file", str(path)])
    found = []
    for line in permutations(words, 3):
        arguments = ["--ros-args", *(word for each in line for word in each)]
        if "-p" not in arguments:
            continue
        context = rclpy.Context()
        rclpy.init(args=arguments, context=context)
        node = rclpy.create_node("n", context=context, enable_rosout=False)
        value = node._parameter_overrides["x"].value
        node.destroy_node()
        rclpy.shutdown(context=context)
        try:
            check_values(arguments, "/n", {"x": value})
            refused = False
        except InputError:
            refused = True
        assert refused == (value == 2), line
        found.append(refused)
    assert 0 < sum(found) < len(found)


def test_file_applies_under_a_namespace(start: Start, tmp_path: Path) -> None:
    file = file_of(tmp_path, "/r1/rooted:\n  ros__parameters: {safety_margin: 1.0}\n")
    _, bench = start("r1/rooted", __ns="/r1", params_file=file)
    bench.publish()
    bench.until_status(Verdict.MARGIN, Status.SUCCESS, x=2.5)


def test_footprint_as_nav2_writes_it(start: Start, tmp_path: Path) -> None:
    text = '/**:\n  ros__parameters: {footprint: "[[1.0, 1], [-1, 1], [-1, -1], [1, -1]]"}\n'
    _, bench = start("nav2", params_file=file_of(tmp_path, text), footprint=None)
    bench.publish()
    bench.until_status(*FREE, x=3.0)
    assert list(bench.get("footprint")[0]) == BOX


@pytest.mark.parametrize(
    "arguments",
    [
        ["--ros-args", "--log-level", "bogus"],
        ["--ros-args", "--params-file", "/none.yaml"],
        ["--params-file", "robot.yaml: not used; write --ros-args before"],
    ],
)
def test_bad_ros_argument_is_an_error_without_a_traceback(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "gjk_collision.ros.node", *arguments]
    command[-1] = command[-1].partition(":")[0]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "collision_server: " in done.stderr
    assert arguments[-1] in done.stderr


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize("given", ["main", "cli_args", "arguments"])
def test_file_is_found_in_whatever_arguments_name_it(given: str, tmp_path: Path) -> None:
    """rclpy takes the parameters of the file, so it must be checked like one of the shell's."""
    file = file_of(tmp_path, "/r1/other:\n  ros__parameters: {safety_margin: 1.0}\n")
    arguments = ["--ros-args", "--params-file", file]
    lines = {
        "main": "node.main({0})",
        "cli_args": "rclpy.init(args=[]); node.CollisionServer(cli_args={0}).trigger_configure()",
        "arguments": "rclpy.init(args={0}); "
        "node.CollisionServer(arguments={0}).trigger_configure()",
    }
    program = "import rclpy; from gjk_collision.ros import node; " + lines[given]
    server = subprocess.Popen(
        [sys.executable, "-P", "-c", program.format(arguments)], stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        first = server.stderr.readline()
    finally:
        server.kill()
        server.communicate()
    assert f"configure failed: {file}: no section of this file applies" in first


# ---- inputs

QUALITY = "qos_overrides./footprint.subscription"


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        (f"{QUALITY}.reliability", "bogus", "topic 'footprint': cannot subscribe"),
        (f"{QUALITY}.depth", 2.5, "topic 'footprint': cannot subscribe"),
        ("obstacles.topic", "//x", "topic '//x': cannot subscribe"),
        ("other.topic", "'a b'", "topic 'a b': cannot subscribe"),
    ],
)
def test_input_that_cannot_be_subscribed_fails_with_the_reason(
    start: Start, parameter: str, value: object, words: str
) -> None:
    """A subscription that was made before is undone: else a second attempt would have two."""
    sources = {"obstacle_sources": ["obstacles", "other"]} if "other" in parameter else {}
    server, bench = start("deaf", footprint=None, **{parameter: value}, **sources)
    for _ in range(2):
        message = bench.collide().verdict.message
        assert "configure failed" in message
        assert words in message
        assert message in server.log
        bench.until(
            lambda: not bench.node.get_subscriptions_info_by_topic("/obstacles"), "no subscription"
        )
        assert not bench.transition("configure")
    if "topic" in parameter.rpartition(".")[2]:
        assert bench.set(**{parameter: "good"}).successful
        assert bench.transition("configure")


# ---- types and ranges


def test_parameter_set_to_its_value_changes_nothing(start: Start) -> None:
    server, bench = start("same", safety_margin=0.5)
    assert bench.set(safety_margin=0.5).successful
    assert bench.set(footprint=BOX, safety_margin=0.5).successful
    assert bench.set(safety_margin=0.75).successful
    bench.until(lambda: "safety_margin = 0.75; config hash" in server.log, "log of the change")
    assert server.log.count("; config hash") == 1


def test_whole_number_out_of_range_is_refused_with_the_range(bench: Bench) -> None:
    for name, value in (("safety_margin", 99), ("safety_margin", -1), ("footprint", [500, 0])):
        reason = bench.set(**{name: value}).reason
        facts = parameter_facts(name)
        assert name in reason
        for each in (facts.low, facts.high, value if isinstance(value, int) else value[0]):
            assert f"{each:g}" in reason, reason


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """A server that is not configured, for tests that leave it so."""
    server, bench = Server("typed", footprint=BOX, autostart=False), Bench("typed")
    yield bench
    bench.close()
    server.stop()


def test_descriptors_have_types_and_ranges(bench: Bench) -> None:
    values = Config().parameters()
    described = bench.call("describe_parameters", DescribeParameters.Request(names=list(values)))
    ranges = 0
    for found in described.descriptors:
        value, facts = values[found.name], parameter_facts(found.name)
        assert not found.dynamic_typing, found.name
        empty = (0.0,) if facts.low is not None else ("",)
        kind = Parameter.Type.from_parameter_value(empty if value == () else value)
        assert found.type == kind.value, found.name
        limits = [*found.floating_point_range, *found.integer_range]
        if type(value) in (int, float):
            assert [(each.from_value, each.to_value) for each in limits] == [
                (facts.low, facts.high)
            ]
            assert bool(found.integer_range) == (type(value) is int)
            ranges += 1
        else:
            assert not limits
    assert ranges > 15


def test_whole_numbers_and_empty_lists_take_the_type(bench: Bench) -> None:
    assert bench.set(safety_margin=1, max_poses=20, footprint=[1, 1, -1, 1, 0, -1]).successful
    assert [type(each) for each in bench.get("safety_margin", "max_poses")] == [float, int]
    assert list(bench.get("footprint")[0]) == [1.0, 1.0, -1.0, 1.0, 0.0, -1.0]
    assert bench.set(footprint=[]).successful
    assert list(bench.get("footprint")[0]) == []
    for change in (
        {"safety_margin": "wide"},
        {"safety_margin": True},
        {"safety_margin": float("nan")},
        {"max_poses": 1.5},
        {"max_poses": 1e3},
        {"max_poses": 0},
        {"autostart": 1},
        {"footprint": ["a"]},
        {"toi_tolerance": 1.0000000001},  # rclpy's range has a tolerance
    ):
        refused = bench.set(**change)
        assert not refused.successful, change
        assert refused.reason, change
    assert bench.get("safety_margin", "max_poses") == [1.0, 20]


def test_parameter_refused_at_the_start_is_refused_until_it_is_set(start: Start) -> None:
    _, bench = start("stubborn", **{"obstacles.timeout": "soon", "max_poses": 0.5})
    for name, value in (("max_poses", 10), ("obstacles.timeout", 1)):
        assert f"{name}: must be" in bench.collide().verdict.message
        assert not bench.transition("configure")
        assert bench.set(**{name: value}).successful
        bench.transition("configure")
    assert bench.transition("activate")


# ---- the topic footprint


@pytest.mark.parametrize("reliability", list(ReliabilityPolicy)[1:3])
def test_footprint_of_either_reliability_is_received(
    start: Start, reliability: ReliabilityPolicy
) -> None:
    _, bench = start("heard", footprint=None)
    qos = QoSProfile(depth=1, reliability=reliability)
    publisher = bench.node.create_publisher(PolygonStamped, "/footprint", qos)

    timer = bench.node.create_timer(0.05, lambda: publisher.publish(bench.outline()))
    bench.publish()
    bench.until_status(*FREE, x=3.0)
    bench.node.destroy_timer(timer)


# ---- transitions


@pytest.mark.parametrize("by", ["id", "label"])
def test_transition_that_the_state_does_not_have_is_answered(bench: Bench, by: str) -> None:
    """Without an answer the client would wait for ever. rclpy raises on Jazzy, for an id."""
    request = ChangeState.Request()
    request.transition.id = Transition.TRANSITION_ACTIVATE if by == "id" else 0
    request.transition.label = "activate" if by == "label" else ""
    assert not bench.call("change_state", request, may_repeat=True).success
    assert bench.transition("configure")
    assert bench.call("change_state", request).success
    assert not bench.call("change_state", request).success
    assert bench.transition("deactivate") and bench.transition("cleanup")


@pytest.mark.parametrize("name", ["use_sim_time", "start_type_description_service"])
def test_parameter_of_every_node_that_is_not_true_or_false(
    name: str,
) -> None:
    """There is no node that could report it, so the process ends with the reason."""
    server = Server("untrue", footprint=BOX, **{name: 1})
    assert server.process.wait(DEADLINE) == 2
    assert server.log.strip() == f"collision_server: {name}: must be True or False (got 1)"

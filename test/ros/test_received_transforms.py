# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Senders that flood the node with transforms, without a network and without tf2_msgs."""

from __future__ import annotations

import struct
import sys
from collections import deque
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.ros import received_transforms
from gjk_collision.ros.diagnostics import Diagnostics, Health
from gjk_collision.ros.received_transforms import DEPTH, MAX_REFUSALS, ReceivedTransforms
from gjk_collision.ros.throttled_log import PERIOD, ThrottledLog
from gjk_collision.server.frames.poses import FrameError

S = 1_000_000_000
NOW = 100 * S


class Node:
    """A node whose subscriptions are queues, and which counts the calls of its logger."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.queues: dict[str, deque[bytes]] = {}
        self.receive: dict[str, Any] = {}
        self.handle = None

    def get_logger(self) -> Any:
        return SimpleNamespace(log=lambda text, severity: self.lines.append(text))

    def get_clock(self) -> Any:
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=NOW))

    def create_subscription(self, kind: Any, topic: str, receive: Any, *_: Any, **__: Any) -> Any:
        queue = self.queues[topic] = deque(maxlen=DEPTH)
        self.receive[topic] = receive

        def take_message(kind: Any, raw: bool) -> Any:
            return (queue.popleft(), {}) if queue else None

        return SimpleNamespace(handle=SimpleNamespace(take_message=take_message))

    def create_publisher(self, *_: Any) -> None: ...

    def create_timer(self, *_: Any, **__: Any) -> None: ...


def message(*transforms: tuple[str, int, float], parent: str = "odom") -> bytes:
    """A TFMessage in CDR: child frame, stamp [ns] and x of each transform."""
    data = struct.pack("<I", len(transforms))
    for child, stamp, x in transforms:
        data += struct.pack("<iI", *divmod(stamp, S))
        for name in (parent, child):
            data += b"\0" * (-len(data) % 4) + struct.pack("<I", len(name) + 1)
            data += name.encode() + b"\0"
        data += b"\0" * (-len(data) % 8) + struct.pack("<7d", x, 0, 0, 0, 0, 0, 1)
    return b"\0\1\0\0" + data


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Node:
    module = ModuleType("tf2_msgs.msg")
    module.TFMessage = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tf2_msgs", ModuleType("tf2_msgs"))
    monkeypatch.setitem(sys.modules, "tf2_msgs.msg", module)
    monkeypatch.setattr(received_transforms, "monotonic", lambda: 0.0)  # a busy machine is slow
    return Node()


def test_refused_transforms_do_not_call_the_logger(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call of rclpy's logger takes 0.5 ms: 5000 refused transforms would stop the node."""
    now = 50.0
    monkeypatch.setattr("gjk_collision.ros.throttled_log.time.monotonic", lambda: now)
    known = ReceivedTransforms(node, ThrottledLog(node))
    flood = message(*[("ghost", 0, 0.0)] * 50)
    for _ in range(100):
        node.receive["/tf"](flood)
        node.receive["/tf"](b"\0\1\0\0 no message")
    assert [line.partition(":")[0] for line in node.lines] == [
        "a transform of 'ghost' is not used",
        "a message with transforms cannot be decoded",
    ]
    assert known.refused == {
        ("ghost", "its stamp on /tf is not positive"): 5000,
        ("", "the message cannot be decoded"): 100,
    }
    now += PERIOD
    node.receive["/tf"](flood)
    assert node.lines[-1].endswith("(4999 similar lines were omitted)")


def test_refused_transforms_are_in_the_diagnostics(node: Node) -> None:
    """A person must find the frame and the reason, and a sender must not fill the memory."""
    known = ReceivedTransforms(node, ThrottledLog(node))
    check = Diagnostics(node, SimpleNamespace(transforms=known), Health(), lambda: None)
    [quiet] = check._transforms()
    assert quiet.level == b"\0"
    for i in range(3 * MAX_REFUSALS):
        node.receive["/tf"](message((f"frame_{i}", NOW + 3600 * S, 0.0)))
    [status] = check._transforms()
    values = {each.key: each.value for each in status.values}
    assert status.level == b"\1"
    assert values["refused"] == str(3 * MAX_REFUSALS)
    why = "its stamp is more than 2 s ahead of the clock"
    assert values[f"refused: 'frame_0': {why}"] == "1"
    assert values[f"refused: 'other frames': {why}"] == str(2 * MAX_REFUSALS)
    assert check._transforms()[0].level == b"\0"  # none in the last period


def test_messages_without_a_used_transform_change_nothing(node: Node) -> None:
    """Otherwise each refused one would make a new snapshot."""
    changes: list[int] = []
    ReceivedTransforms(node, ThrottledLog(node), lambda: changes.append(1))
    node.receive["/tf"](message(("ghost", 0, 0.0)))
    assert not changes
    node.receive["/tf"](message(("ghost", 0, 0.0), ("base", NOW, 0.0)))
    assert len(changes) == 1


def test_work_between_two_requests_is_limited(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood leaves time for requests; a transform that waits is unknown, and is not skipped."""
    steady = 0.0
    monkeypatch.setattr(received_transforms, "monotonic", lambda: steady)
    inserted: list[int] = []
    insert = ReceivedTransforms._insert

    def slow_insert(self: ReceivedTransforms, data: bytes, *, static: bool) -> bool:
        nonlocal steady
        steady += 0.4 * received_transforms.MAX_WORK
        inserted.append(static)
        return insert(self, data, static=static)

    monkeypatch.setattr(ReceivedTransforms, "_insert", slow_insert)
    known = ReceivedTransforms(node, ThrottledLog(node))
    stamps = [NOW - S + i for i in range(10)]
    node.queues["/tf"] += [message(("base", stamp, float(stamp - stamps[0]))) for stamp in stamps]
    node.queues["/tf_static"].append(message(("lidar", 0, 5.0), parent="base"))
    assert known.latest("odom", "base") == ((1.0, 0.0, 0.0), stamps[1])
    assert inserted == [True, False, False], "static transforms first: they have no age"
    assert known.pauses == 1
    with pytest.raises(FrameError):
        known.lookup("odom", "base", stamps[2])
    # In the pause, the executor takes a message; it is inserted before those in the queue.
    node.receive["/tf"](node.queues["/tf"].popleft())
    assert len(inserted) == 3
    steady += 2.0 * received_transforms.MAX_WORK
    assert known.latest("odom", "lidar") == ((9.0, 0.0, 0.0), stamps[4])
    for _ in range(2):
        steady += 2.0 * received_transforms.MAX_WORK
        known.set_time(NOW)
    assert known.latest("odom", "base") == ((9.0, 0.0, 0.0), stamps[9])
    assert known.late == 1, "the order of the messages is kept; base was a parent before"


def test_a_static_transform_that_is_the_first_after_a_step_back_is_used(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ReceivedTransforms(node, ThrottledLog(node))
    node.receive["/tf"](message(("base", NOW, 0.0)))
    monkeypatch.setattr(known, "_now", lambda: NOW - 10 * S)
    node.receive["/tf_static"](message(("lidar", 0, 5.0)))
    assert known.latest("odom", "lidar") == ((5.0, 0.0, 0.0), 0)


def test_step_back_of_the_clock_in_a_pause(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moving transforms that wait are from before the step; static ones are valid after it."""
    monkeypatch.setattr(received_transforms, "monotonic", lambda: 1.0)
    known = ReceivedTransforms(node, ThrottledLog(node))
    known._resume_at = 2.0
    node.receive["/tf"](message(("base", NOW, 0.0)))
    node.receive["/tf_static"](message(("lidar", 0, 5.0)))
    known._resume_at = 0.0
    known.set_time(NOW - 10 * S)
    assert known.latest("odom", "lidar") == ((5.0, 0.0, 0.0), 0)
    with pytest.raises(FrameError):
        known.latest("odom", "base")

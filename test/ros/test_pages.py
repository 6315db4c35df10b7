# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands of the tutorial, and the blocks of pages that need a server, work as written.

The messages and requests of `ros2 topic pub` and `ros2 service call` are read from the page, and
sent by rclpy: the wheels have no command ros2.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import yaml
from pages import ROOT, blocks_of, commands

from gjk_collision.verdict import Status, Verdict

TUTORIAL = ROOT / "docs" / "tutorials" / "first_verdict.md"


def said_to_ros2(*kind: str) -> list[list[str]]:
    """Return the last three words of each command `ros2 KIND` of the tutorial."""
    found = [
        words
        for each in blocks_of(TUTORIAL)
        if each.kind == "bash"
        for words in commands(each.text)
    ]
    return [words[-3:] for words in found if words[1 : 1 + len(kind)] == list(kind)]


def made(kind: str) -> Any:
    """Return a new message of a type such as geometry_msgs/msg/Point."""
    package, _, name = kind.partition("/")
    return getattr(import_module(f"{package}.msg"), name.rpartition("/")[2])()


def fill(message: Any, values: dict[str, Any], now: Any) -> Any:
    """Set the fields of a message, as ros2 does."""
    types = message.get_fields_and_field_types()
    for name, value in values.items():
        if value == "now":
            setattr(message, name, now)
        elif isinstance(value, dict):
            fill(getattr(message, name), value, now)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            kind = types[name].removeprefix("sequence<").partition(">")[0]
            setattr(message, name, [fill(made(kind), each, now) for each in value])
        else:
            setattr(message, name, value)
    return message


def test_tutorial(start: Callable[..., Any]) -> None:
    """A newcomer who copies the commands gets the verdicts that the page shows."""
    _, bench = start("first_verdict", footprint=None)
    footprint, obstacles, _ = said_to_ros2("topic", "pub")
    now = bench.node.get_clock().now

    def publish(words: list[str]) -> Any:
        topic, kind, values = words
        publisher = bench.node.create_publisher(type(made(kind)), topic, 1)
        return bench.node.create_timer(
            0.1,
            lambda: publisher.publish(fill(made(kind), yaml.safe_load(values), now().to_msg())),
        )

    def ask(words: list[str]) -> Any:
        name, kind, values = words
        service = getattr(import_module("gjk_collision.srv"), kind.rpartition("/")[2])
        request = fill(service.Request(), yaml.safe_load(values), now().to_msg())
        return bench.call(name.rpartition("/")[2], request)

    asked = said_to_ros2("service", "call")
    first, again, ahead, distance, path, last = asked
    assert first == again == last

    def until(status: Status) -> Any:
        def reply() -> Any:
            found = ask(first)
            return found if found.verdict.status == status else None

        return bench.until(reply, status.name)

    assert not until(Status.NO_FOOTPRINT).is_free
    publish(footprint)
    assert not until(Status.NO_OBSTACLES).is_free
    timer = publish(obstacles)
    assert until(Status.SUCCESS).is_free
    hit = ask(ahead)
    assert (hit.verdict.verdict, hit.obstacle_id) == (Verdict.COLLISION, 7)
    assert list(ask(distance).distances) == pytest.approx([3.4])
    way = ask(path)
    assert way.verdict.verdict == Verdict.COLLISION
    assert way.last_valid_fraction == pytest.approx(0.34, abs=1e-3)
    bench.node.destroy_timer(timer)
    assert not until(Status.STALE_OBSTACLES).is_free


def test_blocks_that_need_a_server(start: Callable[..., Any]) -> None:
    """The calls of the client and of the mirror on the pages work."""
    import numpy as np
    import rclpy

    box = [1.0, 0.5, -0.4, 0.5, -0.4, -0.5, 1.0, -0.5]
    _, bench = start(
        "collision_server",
        footprint=box,
        footprint_names=["loaded"],
        **{"loaded.robot_radius": 1.0},
    )
    bench.publish(lambda: bench.array([(50.0, 0.0)]))
    bench.until_status(Verdict.FREE, Status.SUCCESS, x=0.0)
    logged: list[Any] = []
    names: dict[str, Any] = {
        "np": np,
        "margin": 0.1,
        "is_loaded": np.array([False, True]),
        "poses": np.zeros((2, 3)),
        "path": np.zeros((2, 3)),
        "replan": lambda: pytest.fail("not free"),
        "log": lambda *values: logged.append(values),
    }
    pages = [ROOT / "docs" / f"{name}.md" for name in ("planners-ros", "footprints", "mirror")]
    found = [each for page in pages for each in blocks_of(page) if each.kind == "python"]
    client = [each for each in found if "CollisionClient(" in each.text]
    needs = [each for each in found if each.not_run]
    mirror = [each for each in found if "CollisionMirror(" in each.text]
    assert len(client) == len(mirror) == 1 and len(needs) == 2
    # The publisher of the obstacles must go on while the client waits.
    import threading

    ended = threading.Event()
    spinner = threading.Thread(target=lambda: [bench.spin() for _ in iter(ended.is_set, True)])
    spinner.start()
    try:
        for block in [*client, *needs]:
            exec(compile("\n" * block.line + block.text, str(block.page), "exec"), names)
            if "reply" in names:
                assert names["reply"].is_free, (block.place, names["reply"].message)
        assert names["answer"].is_free and len(logged) == 1
        rclpy.shutdown()
        exec(compile(mirror[0].text, str(mirror[0].page), "exec"), names)
        assert names["reply"].is_free, names["reply"].message
    finally:
        ended.set()
        spinner.join()
        if rclpy.ok():
            rclpy.shutdown()

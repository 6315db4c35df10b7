# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The layouts for RViz and Foxglove look at topics and fields that the server has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
NODE = (ROOT / "gjk_collision/ros/node.py").read_text()
FIELD = re.compile(r"^(\w+)(?:/msg)?/?(\w+)?(?:\[\])?\s+(\w+)\s*(?:#.*)?$", re.MULTILINE)


def published() -> dict[str, str]:
    """Names that the node publishes under its own, and the types there."""
    found = re.findall(r'create_publisher\(\s*(\w+), "~/(\w+)"', NODE)
    return {f"collision_server/{name}": kind for kind, name in found}


def fields(kind: str) -> dict[str, str]:
    """Fields of one of our messages, and the last word of their types."""
    text = (ROOT / f"msg/{kind}.msg").read_text()
    return {name: last or first for first, last, name in FIELD.findall(text)}


def texts(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            yield from texts(value)
    elif isinstance(node, list):
        for each in node:
            yield from texts(each)
    elif isinstance(node, str):
        yield node


def test_what_the_server_publishes_is_known_here() -> None:
    assert published() == {
        "collision_server/state": "CollisionState",
        "collision_server/markers": "MarkerArray",
    }


def test_rviz_shows_the_markers() -> None:
    layout = yaml.safe_load((ROOT / "config/collision_server.rviz").read_text())
    displays = layout["Visualization Manager"]["Displays"]
    topics = {each["Class"]: each["Topic"]["Value"] for each in displays if "Topic" in each}
    assert topics == {"rviz_default_plugins/MarkerArray": "collision_server/markers"}
    assert published()[topics["rviz_default_plugins/MarkerArray"]] == "MarkerArray"


def assert_layout_fits(name: str, topics: dict[str, str], *, without_fields: set[str]) -> None:
    """Check that a layout shows all topics, and only fields that there are."""
    layout = json.loads((ROOT / "config" / name).read_text())
    panels = set(layout["configById"])
    assert panels == {text for text in texts(layout["layout"]) if "!" in text}, "each is placed"
    seen = set()
    for text in texts(layout["configById"]):
        if not text.startswith("/"):
            continue
        topic, *path = text.removeprefix("/").split(".")
        seen.add(topic)
        if topic in without_fields:
            continue
        kind = topics[topic]
        for field in path:
            assert field in fields(kind), f"{text}: {kind} has no {field}"
            kind = fields(kind)[field]
    assert seen == {*topics, *without_fields}


def test_foxglove_plots_fields_that_there_are() -> None:
    assert_layout_fits(
        "collision_server.foxglove.json", published(), without_fields={"diagnostics"}
    )


def test_foxglove_plots_fields_that_an_export_has() -> None:
    from gjk_collision.report.answer_file import MARKERS, STATE

    topics = {topic.removeprefix("/"): kind.rpartition("/")[2] for topic, kind in (MARKERS, STATE)}
    assert_layout_fits("foxglove_replay.json", topics, without_fields=set())

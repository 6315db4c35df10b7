# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A slip in a parameter is refused with its range; what is in force is told apart by its hash."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from gjk_collision.errors import InputError
from gjk_collision.server.parameters.config import (
    SCAN,
    Config,
    FootprintConfig,
    SourceConfig,
    checked_value,
    group_defaults,
    parameter_facts,
)
from gjk_collision.server.parameters.names import is_of_every_node

ROOT = Path(__file__).resolve().parents[2]
PARAMETER_FILE = ROOT / "config" / "collision_server.yaml"


def test_parameter_file_equals_the_defaults() -> None:
    program = [sys.executable, ROOT / "tools/parameter_file.py"]
    said = subprocess.run(program, stdout=subprocess.PIPE, check=True, text=True)
    assert PARAMETER_FILE.read_text() == said.stdout


def test_every_parameter_has_help_and_every_number_a_range() -> None:
    for name, value in Config().parameters().items():
        facts = parameter_facts(name)
        assert facts.text, name
        if isinstance(value, int | float) and not isinstance(value, bool):
            assert facts.low is not None and facts.high is not None, name
            assert facts.low <= value <= facts.high, name


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("check_frame", "/odom", "check_frame: must be the name of a frame, without a slash"),
        ("base_frame", "odom/", "base_frame: must be the name of a frame, without a slash"),
        ("base_frame", "", "base_frame: must be the name of a frame, without a slash"),
        ("max_poses", 1e3, "max_poses: must be a whole number, without a decimal point"),
        ("footprint_timeout", 0.0, "footprint_timeout: must be 0.01 to 60 s (got 0.0)"),
        ("obstacles.timeout", 0, "obstacles.timeout: must be 0.01 to 60 s (got 0)"),
        ("obstacles.inflation", -0.1, "obstacles.inflation: must be 0 to 5 m (got -0.1)"),
        ("safety_margin", float("nan"), "safety_margin: must be 0 to 5 m (got nan)"),
        ("safety_margin", float("inf"), "safety_margin: must be 0 to 5 m (got inf)"),
        ("margin_front", 5.1, "margin_front: must be 0 to 5 m (got 5.1)"),
        ("safety_margin", "wide", "safety_margin: must be a number, 0 to 5 m (got 'wide')"),
        ("safety_margin", True, "safety_margin: must be a number"),
        ("max_poses", 0, "max_poses: must be 1 to 1000000 (got 0)"),
        ("concave_policy", "fill", "concave_policy: must be one of decompose | hull | reject"),
        ("obstacles.qos_reliability", "sure", "obstacles.qos_reliability: must be one of best"),
        ("obstacles.required", 1, "obstacles.required: must be true or false (got 1)"),
        ("footprint", [1.0, 2.0, 3.0], "footprint: must be pairs of x and y"),
        ("footprint", [1.0, float("nan")], "footprint[1]: must be -100 to 100 m (got nan)"),
        *(
            ("obstacle_sources", names, f"obstacle_sources[{len(names) - 1}]: must be a unique")
            for names in (["a", "a"], ["state_rate"], ["a.b"])
        ),
        ("obstacle_sources", [], "obstacle_sources: must name at least one source (got [])"),
        ("obstacle_sources", 3, "obstacle_sources: must be a list of names (got 3)"),
        ("obstacle_sources", "obstacles", "obstacle_sources: must be a list of names"),
        ("safty_margin", 1.0, "did you mean 'safety_margin'? (got 1.0)"),
        ("front_margin", 1.0, "did you mean 'margin_front'? (got 1.0)"),
        ("obstacle.timeout", 1.0, "did you mean 'obstacles.timeout'? (got 1.0)"),
        *(
            ("footprint", text, "footprint: must be a list")
            for text in ("[[1.0, 2.0], [3.0]]", "[1.0, 2.0]", "[{1.0, 2.0}]", "{1.0: 2.0}", "box")
        ),
        ("footprint", "[[1.0, '2']]", "footprint[1]: must be a number"),
        ("footprint", "[[1.0, 200.0]]", "footprint[1]: must be -100 to 100 m (got 200.0)"),
        ("radar.timeout", 1.0, "'radar' is not in obstacle_sources (obstacles); parameters of"),
        ("car.footprint", 1.0, "'car' is not in footprint_names ();"),
    ],
)
def test_bad_value_is_refused_by_name_with_its_range(name: str, value: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Config.from_parameters({name: value})
    said = str(caught.value)
    assert said.startswith(name) and words in said and "(got " in said


@pytest.mark.parametrize(
    ("changes", "name", "got"),
    [
        ({"obstacles.min_height": 2.0, "obstacles.max_height": 1.0}, "obstacles.min_height", 2.0),
        ({"obstacles.min_height": 0.5}, "obstacles.min_height", 0.5),  # not of this type
        ({"base_frame": ""}, "base_frame", ""),
        ({"footprint": (0.0, 0.0, 1.0)}, "footprint", (0.0, 0.0, 1.0)),
        ({"footprint": (0.0, 0.0), "robot_radius": 1.5}, "robot_radius", 1.5),
        ({"a.robot_radius": 0.0}, "a.footprint", ()),
        ({"a.footprint": (1.0,)}, "a.footprint", (1.0,)),
        ({"a.linear_min": 0.5, "a.linear_max": 0.25}, "a.linear_max", 0.25),
        ({"a.theta_min": 0.5, "a.theta_max": 0.25}, "a.theta_max", 0.25),
        ({"speed_footprints": ["a", "b"], "twist_topic": "/odom"}, "speed_footprints[1]", "b"),
        ({"speed_footprints": ["a", "a"], "twist_topic": "/odom"}, "speed_footprints[1]", "a"),
        ({"footprint_names": ["a", "a"]}, "footprint_names[1]", "a"),
    ],
)
def test_refused_value_is_in_the_message(changes: dict[str, Any], name: str, got: object) -> None:
    with pytest.raises(InputError) as caught:
        Config.from_parameters({"footprint_names": ["a"], "a.robot_radius": 1.0, **changes})
    said = str(caught.value)
    assert said.startswith(f"{name}: ") and said.endswith(f" (got {got!r})")


def test_footprint_as_nav2_writes_it() -> None:
    flat = Config(footprint=(2.0, 1.0, -2.0, 1.0, -2.0, -0.5, 2.0, -1.0))
    for text in (
        "[[2.0, 1.0], [-2.0, 1.0], [-2.0, -0.5], [2.0, -1.0]]",
        " [ [2,1.],[-2,+1], [-2.0,-.5],[2, -1e0] ] ",
    ):
        assert Config.from_parameters({"footprint": text}) == flat
    assert Config.from_parameters({"footprint": "[]"}) == Config()


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize("name", list(Config().parameters()))
def test_misspelling_of_a_parameter_is_refused(name: str) -> None:
    """Each letter left out, doubled, and swapped with the next; and all letters in upper case."""
    slips = {name.upper()}
    for i in range(len(name)):
        slips |= {
            name[:i] + name[i + 1 :],
            name[:i] + name[i] + name[i:],
            name[:i] + name[i : i + 2][::-1] + name[i + 2 :],
        }
    for slip in slips - {name}:
        with pytest.raises(InputError, match=r"is not a parameter of .*; did you mean '\w"):
            Config.from_parameters({slip: 1.0})


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize("name", ["safety_distance", "footprint_padding", "obstacles.a.b"])
def test_unknown_name_that_is_like_no_other_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"; parameters of other nodes need a section of their"):
        Config.from_parameters({name: 1.0})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("use_sim_time", True),
        ("start_type_description_service", True),
        ("qos_overrides./scan.subscription.depth", True),
        ("use_sim_timee", False),
        ("use_simtime", False),
        ("use_time_sim", False),
        ("use_sim_time_a.inflation", False),
        ("use_sim_time.inflation", False),
        ("start_type_description_services", False),
        ("qos_overrides.inflation", False),
        ("qos_overrides", False),
    ],
)
def test_names_that_every_node_has_are_compared_exactly(name: str, expected: bool) -> None:
    """By its beginning alone, the inflation of a source `use_sim_time_a` would be ignored."""
    assert is_of_every_node(name) == expected
    if not expected:
        with pytest.raises(InputError, match="is not a parameter of the collision server") as said:
            Config.from_parameters({name: True})
        if name in ("use_sim_timee", "use_simtime", "use_time_sim"):
            assert "did you mean 'use_sim_time'" in str(said.value)


@pytest.mark.parametrize(
    "name", ["use_sim_time", "start_type_description_service", "qos_overrides"]
)
@pytest.mark.parametrize("parameter", ["obstacle_sources", "footprint_names"])
def test_source_is_not_named_as_a_parameter_of_every_node(parameter: str, name: str) -> None:
    with pytest.raises(InputError, match="not the name of a parameter"):
        Config.from_parameters({parameter: [name]})


def test_footprint_and_radius_exclude_each_other() -> None:
    with pytest.raises(InputError, match="robot_radius: must be 0"):
        Config(footprint=(0, 0, 1, 0, 0, 1), robot_radius=1.0)


def test_parameters_read_back() -> None:
    config = Config(
        safety_margin=0.3,
        footprint=(0.0, 0.0, 1.0, 0.0, 0.0, 1.0),
        sources=(SourceConfig("lidar", topic="/l", timeout=0.2), SourceConfig("radar")),
    )
    assert Config.from_parameters(config.parameters()) == config


def test_every_parameter_is_checked_alone() -> None:
    """The node checks each value on its own before it makes a configuration."""
    for name, value in Config().parameters().items():
        assert checked_value(name, value) == value
    assert checked_value("obstacle_sources", ["lidar", "radar"]) == ("lidar", "radar")
    assert checked_value("lidar.timeout", 1) == 1.0
    with pytest.raises(InputError, match=r"^obstacle_sources\[1\]: must be a unique name"):
        checked_value("obstacle_sources", ["lidar", "lidar"])
    for name in ("obstacle_source", "lidar.margin"):
        with pytest.raises(InputError, match=f"^{name}: is not a parameter"):
            checked_value(name, 1.0)
    with pytest.raises(InputError, match=r"^lidar\.timeout: "):
        checked_value("lidar.timeout", "long")


def test_defaults_of_sources_and_footprints() -> None:
    found = group_defaults({"obstacle_sources": ["lidar"], "footprint_names": ["small"]})
    assert found["lidar.topic"] == "lidar"  # a topic has the name of its source
    for owner, prefix in ((SourceConfig("lidar"), "lidar."), (FootprintConfig, "small.")):
        names = {each.name for each in fields(owner)} - {"name"}
        assert {name.removeprefix(prefix) for name in found if name.startswith(prefix)} == names
        assert all(
            found[prefix + name] == getattr(owner, name) for name in names if name != "topic"
        )


def test_whole_numbers_are_floats_where_floats_are_meant() -> None:
    assert Config(safety_margin=1) == Config(safety_margin=1.0)
    assert Config(safety_margin=1).hash == Config(safety_margin=1.0).hash


def test_hash_is_the_same_in_another_process() -> None:
    program = "from gjk_collision.server.parameters.config import Config\n"
    program += "print(Config(max_poses=7).hash)"
    said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert int(said.stdout) == Config(max_poses=7).hash
    assert 0 <= int(said.stdout) < 2**32


def test_hash_tells_every_parameter_apart() -> None:
    seen = {Config().hash}
    for name, value in Config().parameters().items():
        facts = parameter_facts(name)
        other: object
        if isinstance(value, bool):
            other = not value
        elif isinstance(value, int | float):
            other = facts.low if value != facts.low else facts.high
        elif isinstance(value, tuple):
            other = (1.0, 2.0) if name == "footprint" else ("radar",)
        else:
            other = next((c for c in facts.choices if c != value), value + "x")
        before = Config().changed({"obstacles.type": facts.types[0]} if facts.types else {})
        if name == "require_seen":
            before = before.changed({"obstacles.type": SCAN, "obstacles.marks_seen": True})
        if name == "active_footprint":
            before, other = before.changed({"robot_radius": 1.0}), "default"
        seen.add(before.hash)
        other_values = {name: other}
        if name in ("footprint_names", "speed_footprints"):  # they need other parameters
            circle = {"radar.robot_radius": 1.0, "footprint_names": ["radar"]}
            before = before.changed({"twist_topic": "odom"} if name[0] == "s" else {})
            before = before.changed(circle) if name[0] == "s" else before
            seen.add(before.hash)
            other_values = {name: other} if name[0] == "s" else circle
        seen.add(before.changed(other_values).hash)
    kinds = {facts.types for facts in map(parameter_facts, Config().parameters()) if facts.types}
    assert len(seen) == len(Config().parameters()) + 3 + len({each[0] for each in kinds})


@pytest.mark.requirement("N-5")
@pytest.mark.parametrize(
    ("name", "safer", "looser"),
    [
        ("safety_margin", 0.5, 0.3),
        ("margin_left", 0.5, 0.3),
        ("obstacles.inflation", 0.5, 0.3),
        ("seen_for", 0.3, 0.5),
        ("footprint_timeout", 0.3, 0.5),
        ("obstacles.timeout", 0.3, 0.5),
        ("state_rate", 50.0, 30.0),
    ],
)
def test_live_changes_go_to_the_safe_side_only(name: str, safer: float, looser: float) -> None:
    middle = Config().changed({name: (safer + looser) / 2})
    assert middle.refusal(middle.changed({name: safer}), active=True) == ""
    way = "increase" if safer > looser else "decrease"
    assert f"{name}: can only {way} " in middle.refusal(
        middle.changed({name: looser}), active=True
    )
    assert middle.refusal(middle.changed({name: looser}), active=False) == ""


def test_what_requires_to_be_seen_is_never_dropped_while_the_node_is_active() -> None:
    config = Config().changed({"obstacles.type": SCAN, "obstacles.marks_seen": True})
    strict = config.changed({"require_seen": True})
    assert config.refusal(strict, active=True) == ""
    assert "require_seen: can be set to true only" in strict.refusal(config, active=True)
    assert not Config().unseen_note
    assert not strict.unseen_note
    assert "although marks_seen" in config.unseen_note
    assert "see marks_seen" in Config().changed({"obstacles.type": SCAN}).unseen_note
    with pytest.raises(InputError, match="require_seen: needs a source with marks_seen"):
        Config(require_seen=True)
    with pytest.raises(InputError, match="seen_for: must be 0 if check_frame is base_frame"):
        Config(seen_for=1.0, check_frame="base_link")


@pytest.mark.parametrize("timeout", [0.1, 2.0])
def test_timeout_of_an_optional_source_is_fixed_while_the_node_is_active(timeout: float) -> None:
    """Data of an optional source that is too old is excused: a hit would become FREE."""
    config = Config.from_parameters(
        {"obstacle_sources": ["lidar", "radar"], "radar.required": False}
    )
    new = config.changed({"radar.timeout": timeout})
    assert config.refusal(new, active=True).startswith("radar.timeout: cannot change while")
    assert config.refusal(new, active=False) == ""
    assert config.refusal(config.changed({"lidar.timeout": 0.1}), active=True) == ""
    assert config.refusal(config.changed({"radar.inflation": 1.0}), active=True) == ""


def test_the_rest_is_read_at_configure() -> None:
    live = {name for name in Config().parameters() if parameter_facts(name).safe}
    margins = {f"margin_{side}" for side in ("front", "rear", "left", "right")}
    times = {"footprint_timeout", "twist_timeout", "state_rate"}
    seen = {"require_seen", "seen_for"}
    of_source = {"obstacles.timeout", "obstacles.inflation"}
    assert live == {"safety_margin", *margins, *times, *seen, *of_source, "active_footprint"}
    for changes in ({"check_frame": "map"}, {"obstacle_sources": ["obstacles", "radar"]}):
        refusal = Config().refusal(Config().changed(changes), active=False)
        assert f"{next(iter(changes))}: cannot change while the node is configured" in refusal


def test_a_configuration_needs_a_source() -> None:
    with pytest.raises(InputError, match=r"^obstacle_sources: must name at least one source"):
        Config(sources=())

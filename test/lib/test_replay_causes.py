# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A replay names what happened and why: eight events of a drive, and eleven regressions.

The terminal and the page must have the same words.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from browser import browse, needs_browser, pressed, with_script
from replay_pages import cars, data_of, fact
from replays import bag_of, replay
from write_scenarios import CAR, EGO, POINT, Road, at, steps, thing

from gjk_collision.__main__ import main
from gjk_collision.replay.bag import Bag
from gjk_collision.replay.causes import _value
from gjk_collision.replay.data_change import changes
from gjk_collision.replay.drive import TRANSFORM
from gjk_collision.replay.events import KEPT, MISSING, NEW, Events
from gjk_collision.replay.expect import Window
from gjk_collision.replay.interfaces import message
from gjk_collision.replay.live_parameters import PARAMETER_EVENT
from gjk_collision.replay.rows import Row
from gjk_collision.replay.topics import choose
from gjk_collision.replay.write import BagWriter, Storage
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict

WIDE = [(x, 1.5 * y) for x, y in EGO]
PARAMETERS = {"check_frame": "odom", "safety_margin": 0.3, "obstacles": {"timeout": 0.5}}


def write_drive(
    path: Path,
    outline: list[tuple[float, float]] = EGO,
    shift: float = 0.0,
    dropped: float = -1.0,
    late: float = 0.0,
    radius: float = 0.25,
    more: bool = False,
) -> None:
    """The vehicle passes a pole, 0.35 m beside it, and a car, 0.8 m beside it.

    No obstacles are sent from 1 to 1.3 s. `shift` moves the car from 3 s on towards the vehicle.
    `dropped`: time of a missing message. `late`: delay of the transforms from 3 to 3.3 s.
    `more`: there is a third obstacle.
    """
    with BagWriter(path) as writer:
        road = Road(writer, outline)
        for t in steps(4.0):
            delay = late if 3.0 <= t < 3.3 else 0.0
            writer.transform(at(t), Pose(2.0 * t, 0.0, 0.0), log=at(t + delay))
            writer.footprint(at(t), outline)
            things = [
                thing(CAR, 8.0, 2.8 - shift * (t >= 3.0)),
                thing(POINT, 4.0, 1.6, 0.0, radius),
            ]
            if not 1.0 < t < 1.3 and t != dropped:
                road.obstacles(t, things + more * [thing(CAR, 8.0, -2.2)])


def replayed(
    bag: Path, out: Path, capsys: pytest.CaptureFixture[str], *more: str, **parameters: Any
) -> tuple[int, str, str]:
    """Replay a bag; return the exit code, the output, and the text of the page."""
    (bag.parent / "params.yaml").write_text(
        json.dumps({"/**": {"ros__parameters": PARAMETERS | parameters}})
    )
    options = ["--params", str(bag.parent / "params.yaml"), "--out", str(out), *more]
    code = main(["replay", str(bag), *options])
    output, page = capsys.readouterr(), out / bag.name / "index.html"
    return code, output.out + output.err, unescape(page.read_text()) if page.exists() else ""


MOVED = "obstacle 1 moved by 0.05 m"


@pytest.mark.parametrize(
    ("parameters", "edit", "cause", "event"),
    [
        ({"safety_margin": 0.9}, {}, "parameters: safety_margin 0.3 -> 0.9", "FREE -> MARGIN"),
        ({"footprint": [x for point in WIDE for x in point]}, {}, "parameters: footprint [] -> [",
         "FREE -> MARGIN: obstacle 2 of obstacles at"),
        ({}, {"outline": WIDE}, "recording: /footprint differs from 0.0 s on: the message of "
         "0.000 s: footprint points moved by up to 0.5 m", "FREE -> MARGIN"),
        ({}, {"shift": 0.05}, f"/obstacles differs from 3.0 s on: the message of 3.000 s: {MOVED}",
         "FREE, another distance: obstacle 1 of obstacles at 0.800 m -> obstacle 1 of obstacles "
         "at 0.750 m"),
        ({"obstacles": {"timeout": 0.15}}, {}, "parameters: obstacles.timeout 0.5 -> 0.15",
         "FREE -> UNKNOWN (STALE_OBSTACLES): silence: no message on /obstacles from "),
        ({}, {"dropped": 2.5}, "/obstacles differs from 2.5 s on (76 -> 75 messages): the message "
         "of 2.500 s is missing", "2.500 s: missing stamp (golden FREE, now no answer)"),
        ({}, {"late": 0.3}, "/tf differs from 3.0 to 3.6 s: the message of 3.000 s is recorded "
         "0.300 s later", "FREE -> UNKNOWN (TF_EXTRAPOLATION): delayed: transforms of base_link "
         "from 2.950 to 3.550 s, 0.300 s later than before; the newest pose of "
         "'base_link' in 'odom' is 0.150 s old, limit 0.1 s (transform_tolerance)"),
        ({"obstacles": {"timeout": 0.5, "inflation": 0.6}}, {},
         "parameters: obstacles.inflation 0.0 -> 0.6", "FREE -> COLLISION"),
        ({}, {"more": True}, "recording other, not drive: /obstacles differs from 0.0 s on: the "
         "message of 0.000 s: obstacle 3 is new (2 -> 3 obstacles)", "FREE -> MARGIN"),
        ({}, {"radius": 0.31}, "obstacle 2 radius 0.25 -> 0.31 m",
         "FREE -> MARGIN: obstacle 2 of "),
    ],
    ids=["margin", "footprint by parameter", "footprint in the bag", "obstacle moved", "timeout",
         "one message missing", "transform delayed", "inflation", "other bag", "radius"],
)  # fmt: skip
def test_regression_is_named(
    parameters: dict[str, Any], edit: dict[str, Any], cause: str, event: str,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    write_drive(tmp_path / "old" / "drive")
    new = tmp_path / "new" / ("other" if "more" in edit else "drive")
    write_drive(new, **edit)
    assert replayed(tmp_path / "old" / "drive", tmp_path, capsys, "--no-page")[0] == 0
    golden = ("--golden", str(tmp_path / "drive" / "results.jsonl"))
    code, output, page = replayed(new, tmp_path / "out", capsys, *golden, **parameters)
    assert code == 1
    lines = output.splitlines()
    [why, *_] = [line for line in lines if "why: " in line]
    assert cause in why
    assert cause in page
    assert any(event in line for line in lines)
    if "footprint" in parameters:
        assert "            why: topics: /footprint is not used by the new result" in lines
        assert "why: recording" not in output
    what, _, reason = event.rpartition("s: ") if event[0].isdigit() else event.partition(": ")
    assert what in page and reason in page


def listed(t: float) -> Obstacles:
    """Two obstacles that drive to the left."""
    return Obstacles(
        frame="odom", stamp=at(t), ids=np.array([1, 2]), kinds=np.zeros(2, np.uint8),
        offsets=np.array([0, 1, 2]), xy=np.zeros(4), radius=np.array([0.5, 0.25]),
        poses=np.array([8.0, t, 0.0, 4.0, t, 0.0]), velocities=np.tile([0.0, 1.0, 0.0], 2),
        margins=np.zeros(2),
    )  # fmt: skip


def moved(each: Obstacles) -> Obstacles:
    return replace(each, poses=each.poses + np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0]))


FIRST = "the message of 0.200 s: "


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([(0.2, moved)], f"{FIRST}obstacle 1 moved by 0.3 m (9 of 11 messages differ)"),
        ([(0.2, moved), (0.6, lambda each: replace(each, margins=np.array([0.0, 0.1])))],
         f"{FIRST}obstacle 1 moved by 0.3 m; the message of 0.600 s: obstacle 2 margins "
         "0 -> 0.1 m (9 of 11 messages differ)"),
        ([(0.2, lambda each: replace(each, velocities=2.0 * each.velocities))],
         f"{FIRST}obstacle 1 velocities (0, 1, 0) -> (0, 2, 0) m/s, m/s, rad/s, obstacle 2 "
         "velocities (0, 1, 0) -> (0, 2, 0) m/s, m/s, rad/s (9 of 11 messages differ)"),
        ([(0.2, lambda each: replace(each, frame="map"))],
         f"{FIRST}header.frame_id 'odom' -> 'map' (9 of 11 messages differ)"),
        ([(0.2, lambda each: replace(each, ids=each.ids[::-1].copy()))],
         f"{FIRST}obstacle 1, obstacle 2 have each other's ids (9 of 11 messages differ)"),
        ([(1.0, lambda each: replace(each, radius=each.radius + np.array([1e-9, 0.0])))],
         "the message of 1.000 s: obstacle 1 radius 0.5 -> 0.500000001 m"),
        ([(1.0, lambda each: replace(each, radius=each.radius * np.nan))],
         "the message of 1.000 s: obstacle 1 radius 0.5 -> nan m, obstacle 2 radius "
         "0.25 -> nan m"),
        ([(1.0, lambda each: replace(each, stamp=each.stamp - 10**8))],
         "the message of 1.000 s: stamp moved by -0.100 s"),
        ([(0.2, lambda each: None)],
         "the message of 0.200 s is missing (9 of 11 messages differ)"),
    ],
)  # fmt: skip
def test_all_that_differs_on_a_topic_is_named(
    edits: list[tuple[float, Callable[[Obstacles], Obstacles | None]]], text: str, tmp_path: Path
) -> None:
    for name in ("old", "new"):
        with BagWriter(tmp_path / name) as writer:
            for t in steps(1.0, 10.0):
                each: Obstacles | None = listed(t)
                for begin, edit in edits if name == "new" else ():
                    each = edit(each) if each is not None and t >= begin else each
                if each is not None:
                    writer.obstacles(each, "/obstacles", log=at(t))
    config = Config(robot_radius=1.0, base_frame="odom")
    with Bag(tmp_path / "old") as old, Bag(tmp_path / "new") as new:
        topics = choose(new, config, {})
        assert changes(old, new, "/obstacles", old.begin, topics, config) == text
        assert changes(old, old, "/obstacles", old.begin, topics, config) == ""


@needs_browser
def test_page_of_a_missing_stamp_names_it_at_the_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It opens at the answer that holds at this time. The next event is another one."""
    write_drive(tmp_path / "drive")
    replayed(tmp_path / "drive", tmp_path / "golden", capsys, "--no-page")
    (tmp_path / "drive").rename(tmp_path / "old")
    write_drive(tmp_path / "drive", dropped=2.5, shift=0.05)
    golden = ("--golden", str(tmp_path / "golden"))
    replayed(tmp_path / "drive", tmp_path / "out", capsys, *golden)
    page, copy = tmp_path / "out" / "drive" / "index.html", tmp_path / "copy.html"
    dom = browse(page, fragment="#t=2.5")
    assert 'data-time="2.45"' in dom and "difference: missing stamp at 2.500 s" in dom
    assert fact(dom, "event") == "2.500 s: missing stamp (golden FREE, now no answer)"
    dom = browse(with_script(page, copy, pressed("n")), fragment="#t=2.5")
    assert 'data-time="3"' in dom and "difference: distance" in dom
    assert "FREE, another distance" in fact(dom, "event")


def test_typo_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_drive(tmp_path / "drive")
    code, output, _ = replayed(tmp_path / "drive", tmp_path / "out", capsys, safety_margn=0.9)
    assert code == 2
    assert "safety_margn" in output and "did you mean 'safety_margin'" in output


def test_without_the_golden_bag_the_topic_and_the_time_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_drive(tmp_path / "drive")
    replayed(tmp_path / "drive", tmp_path / "golden", capsys, "--no-page")
    (tmp_path / "drive").rename(tmp_path / "moved")
    write_drive(tmp_path / "drive", shift=0.05)
    golden = ("--golden", str(tmp_path / "golden"))
    _, output, _ = replayed(tmp_path / "drive", tmp_path / "out", capsys, *golden)
    assert "why: recording: /obstacles differs from 3.0 s on\n" in output


# ---- eight events


def parameter_event(
    writer: BagWriter,
    t: float,
    name: str,
    value: float,
    *,
    node: str = "/collision_server",
    declared: bool = False,
) -> None:
    """Write that a parameter of the node has changed, as rclcpp and rclpy do."""
    given = {"type": 3, "double_value": value}
    changed = message(writer._store, "rcl_interfaces/msg/Parameter", name=name, value=given)
    kind = "new_parameters" if declared else "changed_parameters"
    event = message(writer._store, PARAMETER_EVENT, stamp=at(t), node=node, **{kind: [changed]})
    writer.write("/parameter_events", PARAMETER_EVENT, at(t), event)


def write_events(path: Path) -> None:
    """A vehicle that stands, at 20 Hz; the times are those of the log.

    1 s: a car 0.04 m ahead for half a second. 2 s: contact for 0.3 s. 3 s: no obstacles for 1 s.
    5 s: a coordinate that is NaN. 6 s: the clock goes back by 0.5 s, and no obstacles for 0.2 s.
    7.5 s: transforms come 0.6 s late for 0.5 s. 9 s: a point inside the vehicle for 0.5 s.
    10 s: the margin of the recorded node changes to 2.5 m.
    """
    with BagWriter(path) as writer:
        road = Road(writer)
        for t in steps(11.0):
            stamp = t - 0.5 * (t >= 6.0)
            writer.clock(at(stamp), log=at(t))
            for late in [t] * (not 7.5 <= t < 8.0) + [t - 0.6] * (8.1 <= round(t, 2) < 8.6):
                writer.transform(at(late - 0.5 * (late >= 6.0)), Pose(), log=at(t))
            writer.footprint(at(stamp), EGO, log=at(t))
            gap = 0.04 if 1.0 <= t < 1.5 else -0.5 if 2.0 <= t < 2.3 else 20.0
            gap = 2.0 if t >= 10.0 else gap
            things = [thing(CAR, 6.0 + gap, 0.0)]
            if 9.0 <= t < 9.5:
                things.append(thing(POINT, 1.0, 0.0, radius=0.125))
            if t == 5.0:
                xy = np.array([9.0, 0.0, np.nan, 0.0, 9.0, 1.0])
                bad = Obstacles("odom", at(t), ids=np.array([1]), offsets=[0, 3], xy=xy)
                writer.obstacles(bad)
            elif not 3.0 <= t < 4.0 and not 6.0 <= t < 6.2:
                road.obstacles(stamp, things, log=t)
            if t == 10.0:
                parameter_event(writer, t, "safety_margin", 2.5)


def test_each_event_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_events(tmp_path / "drive")
    code, output, page = replayed(tmp_path / "drive", tmp_path, capsys, safety_margin=0.0)
    assert code == 0
    lines = [line.strip() for line in output.splitlines()]
    for begin, *words in (
        ("1.000 to 1.450 s, 10 stamps", "FREE, near miss", "1 of obstacles at 0.040 m"),
        ("2.000 to 2.250 s, 6 stamps", "COLLISION", "1 of obstacles at -0.500 m"),
        (
            "3.550 to 3.950 s",
            "UNKNOWN (STALE_OBSTACLES)",
            "obstacles: ",
            "limit 0.5 s",
            "silence: no message on /obstacles from 2.950 to 4.000 s",
        ),
        (
            "5.000 s",
            "UNKNOWN (NON_FINITE)",
            "xy[2]",
            "nan as x of point 1 of obstacle 1, in the message of 5.000 s on /obstacles",
        ),
        (
            "6.050 to 6.150 s",
            "UNKNOWN (CLOCK_JUMP)",
            "the clock went back by 0.45 s",
            "step back of the time on /clock, at 6.000 s",
        ),
        (
            "7.600 to 7.950 s",
            "UNKNOWN (TF_EXTRAPOLATION)",
            "0.150 s old",
            "silence: no transform of base_link from 7.450 to 8.000 s",
        ),
        (
            "10.000 to 11.000 s, 21 stamps",
            "MARGIN",
            "1 of obstacles at 2.000 m, required 2.5 m, obstacle 1 on /obstacles jumps by 18 m, "
            "at 10.000 s, safety_margin 0.0 -> 2.5 at 10.000 s",
        ),
        ("9.000 to 9.450 s, 10 stamps", "COLLISION", "2 of obstacles", "inside the vehicle"),
    ):
        [line] = [each for each in lines if each.startswith(begin) and words[0] in each]
        assert all(word in line for word in words), line
        time, _, text = line.partition(": ")
        assert time in page and all(each in page for each in text.split(": ", 1)), line
    note = "from 10.000 s on, the recorded node /collision_server had other parameters: "
    note += "safety_margin 0.0 -> 2.5; applied"
    assert f"note: {note}" in lines
    assert note in page
    assert '"sm":0.0' in page and '"sm":2.5' in page, "the scene draws the margin of its stamp"
    events = json.loads((tmp_path / "drive" / "summary.json").read_text())["events"]["kept"]
    [late] = [each for each in events if each["what"] == "late transform, FREE"]
    assert (late["from"], late["to"]) == (8.1, 8.55)
    told = "delayed: transforms of base_link from 8.100 to 8.550 s, 0.600 s later than before"
    assert late["why"] == told
    assert sum("safety_margin" in each["why"] for each in events) == 1
    timeline = data_of(tmp_path / "drive" / "index.html")["timeline"]
    [pose] = [each for each in timeline["sources"] if each["name"] == TRANSFORM]
    ages = dict(zip(timeline["t"], pose["age"], strict=True))
    assert (ages[7.4], ages[7.7], ages[7.95], ages[8.0]) == (0.0, 0.25, 0.5, 0.0)


STEP = (
    "step back of header stamps on /obstacles from 1.000 to 2.500 s, by 0.600 s against the log "
    "times; older messages are not used"
)


@pytest.mark.parametrize(
    ("stamp_of", "texts"),
    [
        (lambda t: None if 1.0 <= t < 2.0 else t, ["silence: no message on /obstacles "
         "from 0.950 to 2.000 s"]),
        (lambda t: 0.95 if 1.0 <= t < 2.0 else t, ["frozen: messages on /obstacles have the same "
         "header stamp from 0.950 to 1.950 s"]),
        (lambda t: t - 0.6 * (t >= 1.0), [
         f"(STALE_OBSTACLES): {STEP}; obstacles: 0.550 s old, limit 0.5 s; a message with an "
         "older stamp was dropped"]),
        (lambda t: t - 0.7, ["delayed: messages on /obstacles since 0.000 s, 0.700 s old"]),
    ],
    ids=["silence", "frozen", "step back", "delayed"],
)  # fmt: skip
def test_stalled_sources_are_told_apart(
    stamp_of: Callable[[float], float | None], texts: list[str],
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """All answers are STALE_OBSTACLES. The text names the wrong clock, or the silence."""
    with BagWriter(tmp_path / "drive") as writer:
        road = Road(writer)
        for t in steps(2.5):
            road.ego(t)
            if (stamp := stamp_of(t)) is not None:
                road.obstacles(stamp, [thing(CAR, 20.0, 0.0)], log=t)
    _, output, _ = replayed(tmp_path / "drive", tmp_path / "out", capsys, "--no-page")
    lines = output.splitlines()
    for text in texts:
        assert any(text in line for line in lines), output
    kinds = ("silence", "frozen", "delayed", "step back")
    told = {kind for kind in kinds if any(kind in line for line in lines)}
    assert told == {kind for kind in kinds if any(kind in text for text in texts)}


Times = Callable[[float], list[float]]


def written(
    path: Path,
    stamps: Times = lambda t: [t],
    transforms: Times = lambda t: [t],
    cars_at: Callable[[float], dict[int, tuple[float, float]]] = lambda t: {},
    frame: Callable[[float], str] = lambda t: "odom",
    child: Callable[[float], str] = lambda t: "base_link",
    pose: Callable[[float], Pose] = lambda t: Pose(2.0 * t, 0.0, 0.0),
    clock: Callable[[float], float] | None = None,
    half: Callable[[float], float] = lambda t: 1.0,
) -> None:
    """A vehicle that drives for 6 s, at 20 Hz, towards square 1, with square 2 beside it.

    `stamps`, `transforms`: header stamps of what is recorded at a log time. `cars_at`: squares at
    other places. `half`: half of the side of square 2 [m].
    """
    with BagWriter(path) as writer:
        for k, t in enumerate(steps(6.0)):
            now = t if clock is None else clock(t)
            if clock is not None:
                writer.clock(at(now), log=at(t))
            for stamp in transforms(t):
                writer.transform(at(stamp), pose(stamp), "odom", child(t), log=at(t))
            writer.footprint(at(now), EGO, log=at(t))
            places = {1: (60.0, 0.0), 2: (60.0, 6.0)} | cars_at(t)
            square = np.array([-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
            for j, stamp in enumerate(stamps(t)):
                writer.obstacles(Obstacles(
                    frame(t), at(stamp), ids=np.array([*places]), offsets=np.arange(0, 12, 4),
                    xy=np.concatenate([square, half(t) * square]), sequence=2 * k + j + 1,
                    poses=np.array([(x, y, 0.0) for x, y in places.values()]).ravel(),
                ), log=at(t))  # fmt: skip


def is_third(t: float) -> bool:
    return round(t * 20.0) % 3 == 0


STALE_TEXT = "UNKNOWN (STALE_OBSTACLES): silence: "


@pytest.mark.parametrize(
    ("given", "begin", "words"),
    [
        ({"stamps": lambda t: [t] * (t < 3.0 or round(t * 20.0) % 2 == 0)}, "2.600 to 6.000 s",
         ["rate, FREE: rate on /obstacles: 20 -> 10 Hz from 2.600"]),
        ({"stamps": lambda t: [t - 0.025] * (t > 3.0) + [t]}, "2.400 to 6.000 s",
         ["rate, FREE: rate on /obstacles: 20 -> 41 Hz"]),
        ({"stamps": lambda t: [t] * (t < 3.0 or round(t * 20.0) % 13 == 0)},
         "3.850 to 5.800 s, 4 stamps, 4 times", [STALE_TEXT, "silence: no message on /obstacles "
         "5 times from 2.950 to 5.850 s, for up to 0.650 s"]),
        ({"stamps": lambda t: [t - 0.08 * (round(t * 20.0) % 4 == 0)]}, "0.200 to 6.000 s",
         ["FREE: messages on /obstacles are out of order 30 times from 0.200 to 6.000 s"]),
        ({"frame": lambda t: "map" if 3.0 <= t < 3.5 else "odom"}, "3.000 to 3.450 s, 10 stamps",
         ["UNKNOWN (UNKNOWN_FRAME)", "frame_id on /obstacles: 'odom' -> 'map' from 3.000"]),
        ({"cars_at": lambda t: {2: (2.0 * t + 4.0, 0.0)} if 3.0 <= t < 3.3 else {}},
         "3.000 to 3.250 s, 6 stamps", ["COLLISION: obstacle 2 of obstacles at -0.750 m",
         "obstacle 2 on /obstacles jumps by 50.4 m, 2 times from 3.000 to 3.300 s"]),
        ({"cars_at": lambda t: {1: (60.0, 6.0), 2: (60.0, 0.0)} if t >= 3.0 else {}}, "3.000 s",
         ["swapped ids, FREE: obstacles 1 and 2 on /obstacles swap their ids, at 3.000 s"]),
        ({"cars_at": lambda t: {2: (2.0 * t + 6.0, 6.0)},
          "half": lambda t: 5.0 if 3.0 <= t < 4.0 else 1.0}, "3.000 to 3.950 s, 20 stamps",
         ["COLLISION: obstacle 2", "changes its size from 2.83 to 14.1 m"]),
        ({"transforms": lambda t: [t - 0.3 * (2.0 < t < 4.0)]}, "2.150 to 3.950 s, 37 stamps",
         ["UNKNOWN (TF_EXTRAPOLATION)", "delayed: transforms of base_link from 2.050 to 3.950 s, "
         "0.300 s later than before"]),
        ({"pose": lambda t: Pose(2.0 * t + 51.0 * (t > 3.0), 0.0, 0.0)}, "3.050 to 5.500 s",
         ["COLLISION: obstacle 1", "the pose of base_link jumps by 51 m, at 3.050 s"]),
        ({"child": lambda t: "base_link" if t < 3.0 else "base_footprint"}, "3.100 to 6.000 s",
         ["UNKNOWN (TF_EXTRAPOLATION)", "silence: no transform of base_link since 2.950 s, when "
         "base_footprint begins"]),
        ({"clock": lambda t: t + 5.0 * (t > 3.0), "stamps": lambda t: [t + 5.0 * (t > 3.0)],
          "transforms": lambda t: [t + 5.0 * (t > 3.0)], "pose": lambda t: Pose()}, "3.050 s",
         ["step of the clock, FREE: step of the time on /clock by 5.050 s, at 3.050 s"]),
        ({"clock": lambda t: min(t, 3.0), "pose": lambda t: Pose()}, "4.050 to 6.000 s",
         ["UNKNOWN (STALE_FOOTPRINT)", "the time on /clock stands from 3.000 to 6.000 s"]),
        ({"cars_at": lambda t: {1: (2.0 * t + 5.0 + 0.7 * is_third(t), 0.0)}},
         "0.050 to 5.950 s, 80 stamps, 40 times", ["MARGIN: obstacle 1 of obstacles at 0.250 m"]),
        ({"stamps": lambda t: [t] * (t >= 1.5)}, "0.100 to 1.400 s, 14 stamps",
         ["start-up, UNKNOWN (NO_OBSTACLES): obstacles: no message received"]),
    ],
)  # fmt: skip
def test_a_cause_is_one_event(
    given: dict[str, Any], begin: str, words: list[str], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """However often it changes the answer."""
    written(tmp_path / "drive", **given)
    _, output, _ = replayed(tmp_path / "drive", tmp_path / "out", capsys, "--no-page")
    lines = [each.strip() for each in output.splitlines()]
    [line] = [each for each in lines if each.startswith(begin)]
    assert all(word in line for word in words), line
    events = [each for each in lines if each[0].isdigit()]
    more = 3 * ("clock" in given) + ("pose" in given)
    assert len(events) <= 1 + more, lines


def test_the_worst_of_each_kind_is_shown_first() -> None:
    """A near miss and each cause come before the many lines of one kind."""
    events = Events(lambda row: (row.message,))
    for i in range(40):
        kind = Verdict.UNKNOWN if i % 2 else Verdict.MARGIN
        status = Status.STALE_OBSTACLES if i % 2 else Status.SUCCESS
        row = Row(i, i, "data", kind, status, f"source {i}", 1.0, bad_sources=(f"s{i}",))
        events.add(0.0, Row(i, i, "data", Verdict.FREE, Status.SUCCESS, distance=9.0))
        events.add(5.0 * i, row)
    for t in range(26):
        near = Row(t, t, "data", Verdict.FREE, Status.SUCCESS, distance=0.05, nearest_id=7)
        events.add(300.0 + 0.05 * t, near)
    kept = events.to_dict()["kept"]
    shown = [each["what"] for each in kept if each["rank"] < 3]
    assert sorted(each.partition(" ")[0] for each in shown) == ["FREE,", "MARGIN", "UNKNOWN"]


@pytest.mark.parametrize("fault", ["", "jump", "gone"])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("jitter", [0.0, 0.02])
def test_noise_and_jitter_are_no_events(
    noise: float, jitter: float, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noise of positions [m], and header stamps that differ from the times of the positions [s].

    A jump is told once, also after a transform that follows the one before at once.
    """
    rng = np.random.default_rng(5)

    def stamps(t: float) -> list[float]:
        return [t - jitter * rng.random()] * (fault != "gone" or t < 4.0)

    def transforms(t: float) -> list[float]:
        first = t - jitter * rng.random()
        return [first, first + 1e-4] if round(20.0 * t) % 37 == 0 else [first]

    def cars_at(t: float) -> dict[int, tuple[float, float]]:
        dx, dy = (noise * rng.standard_normal(2)).tolist()
        return {1: (80.0 - 8.0 * t + dx, 30.0 + dy + 9.0 * (fault == "jump" and t >= 4.0))}

    def pose(t: float) -> Pose:
        return Pose(2.0 * t + noise * rng.random(), 0.0, 0.0)

    written(tmp_path / "drive", stamps, transforms, cars_at, pose=pose)
    source = {"timeout": 0.5, "required": False}
    _, output, _ = replayed(
        tmp_path / "drive", tmp_path / "out", capsys, "--no-page", obstacles=source
    )
    events = [line.strip() for line in output.splitlines() if line.strip()[0].isdigit()]
    if not fault:
        assert events == []
    elif fault == "jump":
        [line] = events
        assert "obstacle 1 on /obstacles jumps by" in line and "at 4.000 s" in line
    else:
        [line] = events
        assert "silence: no message on /obstacles since 3.950 s" in line


def test_after_a_step_back_of_the_clock_the_new_stamps_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def clock(t: float) -> float:
        return t - (t >= 2.0)

    written(
        tmp_path / "drive", lambda t: [clock(t)], lambda t: [clock(t)] * (t < 2.5), clock=clock,
        pose=lambda t: Pose(),
    )  # fmt: skip
    _, output, _ = replayed(tmp_path / "drive", tmp_path / "out", capsys, "--no-page")
    assert "UNKNOWN (TF_EXTRAPOLATION): silence: no transform of base_link since 2.450" in output


def test_a_failed_expectation_names_its_cause(tmp_path: Path) -> None:
    written(tmp_path / "drive", lambda t: [t] * (not 2.0 < t < 3.0))
    never = [Window(0.1, 5.0, frozenset(Verdict) - {Verdict.UNKNOWN})]
    found = replay(
        tmp_path / "drive", tmp_path, expect=never,
        parameters={"check_frame": "odom", "obstacles.timeout": 0.5},
    )  # fmt: skip
    assert found.failures[0].endswith("; silence: no message on /obstacles from 2.000 to 3.000 s")
    assert found.summary["expectations"][0]["failure"] == found.failures[0]


def test_the_nearest_obstacles_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An obstacle that is not the nearest one moves by 4 cm for 1 s."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        shift = 0.04 * (name == "new")
        written(
            tmp_path / name / "drive",
            cars_at=lambda t, d=shift: {2: (60.0, 8.0 + d * (2.0 <= t < 3.0))},
        )
    for options, wrong in (((), False), (("--nearest", "2"), True)):
        out = tmp_path / f"out{wrong}"
        replayed(tmp_path / "old" / "drive", out / "golden", capsys, "--no-page", *options)
        golden = ("--golden", str(out / "golden"), "--no-page")
        code, output, _ = replayed(tmp_path / "new" / "drive", out, capsys, *golden, *options)
        assert code == wrong
        text = "20 stamps: FREE, another distance: obstacle 2 of obstacles: "
        assert (text in output) is wrong


def test_two_senders_on_a_topic_are_no_step_back(tmp_path: Path) -> None:
    """The stamps of the second sender are always before those of the first one."""
    with BagWriter(tmp_path / "bag") as writer:
        for t in steps(1.0):
            writer.transform(at(t), Pose())
            writer.footprint(at(t), EGO)
            for late, name in ((0.0, "a"), (0.1, "b")):
                one = cars(t, [Pose(20.0, 0.0, 0.0)], source=name)
                writer.obstacles(replace(one, stamp=at(t - late)), log=at(t))
    found = replay(tmp_path / "bag", tmp_path, parameters={"check_frame": "odom"})
    assert found.summary["verdicts"]["FREE"] == found.summary["stamps"]
    assert found.summary["events"]["kept"] == []


@pytest.mark.parametrize(
    ("field", "index", "text"),
    [
        ("xy", 5, "nan as y of point 0 of obstacle 7, "),
        ("radius", 1, "nan as obstacle 7, "),
        ("poses", 1, "nan as x of obstacle 7, "),
        ("path_times", 2, "nan as obstacle 7, "),
        ("xy", 99, ""),
        ("nothing", None, ""),
    ],
)
def test_a_value_is_named_with_its_obstacle(field: str, index: int | None, text: str) -> None:
    names = "xy", "radius", "poses", "path_times"
    arrays = {name: np.full(6 if name != "radius" else 2, np.nan) for name in names}
    offsets = {"offsets": np.array([0, 2, 3]), "path_offsets": np.array([0, 1, 6])}
    fields = SimpleNamespace(ids=np.array([4, 7]), **offsets, **arrays)
    fault = Fault(Status.NON_FINITE, "must be finite", field=field, index=index)
    assert _value(fields, fault) == text


def test_a_live_change_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A decrease is refused, as by an active node. A declaration is no change."""
    with BagWriter(tmp_path / "drive") as writer:
        road = Road(writer)
        for t in steps(1.0):
            road.ego(t)
            road.obstacles(t, [thing(CAR, 8.0, 0.0)])
            if t == 0.5:
                parameter_event(writer, t, "safety_margin", 3.0)
                parameter_event(writer, t, "safety_margin", 4.0, node="/other")
                parameter_event(writer, t, "state_rate", 1.0, declared=True)
            if t == 0.75:
                parameter_event(writer, t, "safety_margin", 0.1)
    for options, text, verdicts in (
        ([], "; applied", {"FREE": 10, "MARGIN": 11}),
        (["--no-live-parameters"], "; not applied: --no-live-parameters", {"FREE": 21}),
    ):
        _, output, _ = replayed(tmp_path / "drive", tmp_path, capsys, *options, state_rate=10.0)
        assert f"safety_margin 0.3 -> 3.0{text}\n" in output
        assert output.count("had other parameters") == 2
        found = json.loads((tmp_path / "drive" / "summary.json").read_text())["verdicts"]
        assert {name: count for name, count in found.items() if count} == verdicts
        if not options:
            assert "3.0 -> 0.1; not applied: safety_margin: can only increase while" in output


def test_late_transform_is_named_although_the_answer_is_free(tmp_path: Path) -> None:
    """The transform of the lidar is recorded 0.3 s late. The data before it is used till then."""
    with BagWriter(tmp_path / "bag") as writer:
        for t in steps(2.0):
            writer.transform(at(t), Pose())
            writer.footprint(at(t), EGO)
            if not 1.0 < t < 1.3:
                for late in [t - 0.2, t - 0.1] * (t == 1.3) + [t]:
                    writer.transform(at(late), Pose(), "odom", "lidar", log=at(t))
            writer.obstacles(cars(t, [Pose(20.0, 0.0, 0.0)], "lidar"))
    found = replay(
        tmp_path / "bag", tmp_path, parameters={"check_frame": "odom", "obstacles.timeout": 0.32}
    )
    event, transform = found.summary["events"]["kept"]
    assert (event["what"], event["from"], event["to"]) == ("late transform, FREE", 1.2, 1.25)
    assert event["why"].startswith("obstacles: older data is used, because the newest message")
    assert "delayed: transforms of lidar at 1.300 s, 0.200 s later" in transform["why"]


def test_events_of_a_shifted_result_and_of_many_changes() -> None:
    """All stamps are missing and new: two events. Of many events, the most severe are kept."""
    events = Events()
    for i in range(100):
        rows = [Row(i, i, "data", Verdict.FREE, Status.SUCCESS, distance=5.0) for _ in range(2)]
        events.add_change(i + 0.5, rows[0], None, MISSING, 14)
        events.add_change(float(i), None, rows[1], NEW, 15)
    kept = events.to_dict()["kept"]
    assert [(each["what"], each["stamps"]) for each in kept] == [
        ("new stamp (golden no answer, now FREE)", 100),
        ("missing stamp (golden FREE, now no answer)", 100),
    ]  # fmt: skip
    events = Events()
    verdicts = Verdict.MARGIN, Verdict.FREE, Verdict.COLLISION, Verdict.FREE
    for i in range(8 * KEPT):
        verdict = verdicts[i % 4 if i % 8 < 4 else 0]
        events.add(3.0 * i, Row(i, i, "data", verdict, Status.SUCCESS, distance=float(i)))
    found = events.to_dict()
    hits = [each for each in found["kept"] if each["what"] == "COLLISION"]
    assert len(hits) == KEPT // 2, "the worst of each kind are kept"
    assert {each["from"] for each in hits} == {3.0 * (8 * i + 2) for i in range(KEPT // 2)}
    assert found["count"] > 2 * KEPT > len(found["kept"]) == KEPT


# ---- what a recording has beside the data in use


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_log_times_out_of_order_and_unused_topics_are_noted(
    storage: Storage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recorder's clock goes back by 0.4 s at the end; a second topic has obstacles."""
    with BagWriter(tmp_path / "drive", storage) as writer:
        road = Road(writer)
        for t in [*steps(1.0), 0.6]:
            road.ego(t)
            road.obstacles(t, [thing(CAR, 20.0, 0.0)])
        road.obstacles(1.0, [], topic="/radar")
    _, output, _ = replayed(
        tmp_path / "drive", tmp_path, capsys, obstacles={"topic": "/obstacles"}
    )
    assert "they go back by 0.400 s, to 0.600 s" in output
    assert "no source uses: /radar (gjk_collision/msg/ObstacleArray)" in output


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_files_of_a_bag_are_read_in_the_order_of_log_time(
    order: str, storage: Storage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise, times are answered twice, the second time FREE beside a car that is there.

    The first file has what is recorded up to 1 s, the second one what is recorded from 0.7 s on.
    Both have messages of each topic in this time. metadata.yaml names the times of the first part.
    """

    def write(path: Path, is_used: Callable[[int], bool]) -> Path:
        with BagWriter(path, storage) as writer:
            road = Road(writer)
            for k, t in enumerate(steps(2.0)):
                if is_used(k):
                    road.ego(t)
                    road._sequence = k
                    road.obstacles(t, [thing(CAR, 9.0 - 5.0 * t, 0.0)])
        return path

    whole = write(tmp_path / "whole" / "drive", lambda k: True)
    parts = {
        "a": write(tmp_path / "a", lambda k: k < 14 or (k <= 20 and k % 2 == 0)),
        "b": write(tmp_path / "b", lambda k: k > 20 or (k > 14 and k % 2 == 1)),
    }
    split = bag_of(tmp_path / "drive", [parts[each] for each in order])
    results = []
    for bag in (whole, split):
        out = tmp_path / "out" / bag.parent.name
        code, output, _ = replayed(bag, out, capsys, "--no-page")
        results.append((out / "drive" / "results.jsonl").read_bytes())
        overlap = f"a.{'mcap' if storage == 'mcap' else 'db3'} at 1.000 s"
        assert (overlap in output) is (bag is split)
        assert code == 0
        assert main(["info", str(bag)]) == 0
        assert ("note: files overlap: b." in capsys.readouterr().out) is (bag is split)
    assert results[0] == results[1]
    assert b"COLLISION" in results[0]


def test_an_event_has_the_margin_of_the_obstacle_that_it_names() -> None:
    """The margin is that of the smallest distance; whether an obstacle is inside, of the begin."""
    events = Events(lambda row: (f"told of {row.nearest_id}",))
    for verdict, distance, number in (
        (Verdict.MARGIN, 2.0, 1), (Verdict.MARGIN, 1.0, 2), (Verdict.MARGIN, 1.5, 3),
        (Verdict.COLLISION, -1.0, 4), (Verdict.COLLISION, -2.0, 5),
    ):  # fmt: skip
        row = Row(0, 0, "data", verdict, Status.SUCCESS, distance=distance, nearest_id=number)
        events.add(float(number), row)
    margin, hit = (each["why"] for each in events.to_dict()["kept"])
    assert margin == "obstacle 2 of  at 1.000 m, told of 2, smallest distance at 2.000 s"
    assert hit == "obstacle 5 of  at -2.000 m, told of 4, smallest distance at 5.000 s"

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags of every storage, the same bytes from each, and bags that must fail and say why.

Parts of a recording, bags with a twist, and requests of another version.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import cycle
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data import DATA, needs_data
from replays import broken, car_ahead, define, drive, replay, rows_of, write_undefined
from write_scenarios import CAR, EGO, Road, at, steps, thing, write

from gjk_collision.__main__ import main
from gjk_collision.replay.bag import Bag, BagError, find_bags
from gjk_collision.replay.case import Case
from gjk_collision.replay.expect import parse
from gjk_collision.replay.faults import FaultSpec
from gjk_collision.replay.interfaces import POLYGON_STAMPED, defined_types, message, typestore
from gjk_collision.replay.rows import Row
from gjk_collision.replay.span import Span
from gjk_collision.replay.write import BagWriter, Storage
from gjk_collision.report.outcome import Outcome, Result, outcome_text
from gjk_collision.report.run import Options, run
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import OBSTACLE_ARRAY, ODOMETRY
from gjk_collision.verdict import Status, Verdict

ROOT = Path(__file__).parents[2]

STORAGES = [
    ("mcap", ""), ("mcap", "message"), ("mcap", "file"), ("mcap", "storage"),
    ("sqlite3", ""), ("sqlite3", "message"), ("sqlite3", "file"),
]  # fmt: skip


@pytest.fixture(scope="module")
def approach(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("bags"), "approach")


@pytest.fixture(scope="module")
def reference(approach: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("reference")
    assert replay(approach, out).outcome is Outcome.PASSED
    return (out / "drive" / "results.jsonl").read_bytes()


@pytest.mark.parametrize(("storage", "compression"), STORAGES)
def test_same_bytes_from_every_storage(
    storage: Any, compression: Any, reference: bytes, tmp_path: Path
) -> None:
    """A result that depends on how a bag is kept could not be compared with an earlier one."""
    bag = write(tmp_path, "approach", storage, compression)
    assert replay(bag, tmp_path).outcome is Outcome.PASSED
    assert (tmp_path / "drive" / "results.jsonl").read_bytes() == reference


def test_same_bytes_from_another_process(approach: Path, reference: bytes, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gjk_collision", "replay", next(approach.glob("*.mcap"))]
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    command += ["--out", tmp_path, "--no-page", "--quiet"]
    subprocess.run(command, check=True, env=environment)
    found = (tmp_path / "approach" / "results.jsonl").read_bytes()
    assert found.replace(b'"name":"approach"', b'"name":"drive"') == reference


def test_rows_say_what_the_library_says(approach: Path, tmp_path: Path) -> None:
    """Against a closed form: the gap closes at 6 m/s from 20 m."""
    replay(approach, tmp_path)
    for row, t in zip(rows_of(tmp_path), steps(4.0), strict=True):
        gap = 20.0 - 6.0 * t
        assert row.time == at(t)
        assert row.verdict is (Verdict.FREE if gap > 0.0 else Verdict.COLLISION)
        if gap > 0.0:
            assert row.distance == pytest.approx(gap, abs=2e-9)
            assert row.lower_bound <= row.distance
        assert row.nearest_id == 1 and row.snapshot_id > 0
        assert row.footprint_age == row.obstacle_age == 0.0


def test_row_survives_json() -> None:
    row = Row(
        1, 2, "data", Verdict.MARGIN, Status.SUCCESS, "ü", inf, 0.1234567891234,
        7, "lidar", (1.0, -0.0), (2.0, 3.0), (1.0, 0.0), (1.0, 2.0, 3.0), 4, 0.5, 0.25, ("a",),
    )  # fmt: skip
    back = Row.from_json(json.loads(row.to_json()))
    assert back.to_json() == row.to_json()
    assert back.distance == inf
    assert 0.0 <= row.lower_bound - back.lower_bound < 1e-9, "rounded down: still a bound"
    for value in (0.1234567891234, inf, 0.0):
        row = Row(1, 2, "data", Verdict.FREE, Status.SUCCESS, time_to_collision=value)
        again = Row.from_json(json.loads(row.to_json())).time_to_collision
        assert again == value or value - 1e-9 <= again <= value
    nothing = Row(1, 2, "data", Verdict.UNKNOWN, Status.NO_OBSTACLES)
    assert Row.from_json(json.loads(nothing.to_json())).to_json() == nothing.to_json()


# ---- what must fail, and say so


def test_bag_that_holds_less_than_it_tells_is_broken(tmp_path: Path) -> None:
    bag = write(tmp_path, "approach", "sqlite3")
    metadata = bag / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("message_count: 81", "message_count: 99"))
    broken(bag, tmp_path, "truncated")
    # What could be read is reported; of the last stamp, messages may be missing.
    assert len(rows_of(tmp_path)) == 80


def test_missing_topic_is_named_with_those_there_are(tmp_path: Path) -> None:
    bag = drive(tmp_path / "bag", lambda road, t: None)
    footprint = "/footprint (geometry_msgs/msg/PolygonStamped)"
    broken(bag, tmp_path, "missing topic /obstacles", footprint)


def test_wrong_type_and_choice_of_topics(approach: Path, tmp_path: Path) -> None:
    wrong = {"obstacles": "/footprint"}
    broken(approach, tmp_path, "must be gjk_collision/msg/ObstacleArray", topics=wrong)
    broken(approach, tmp_path, "missing topic /other", topics={"obstacles": "/other"})
    assert replay(approach, tmp_path, topics={"obstacles": "/obstacles"}).outcome is Outcome.PASSED


@pytest.mark.parametrize("topics", [("/obstacles",), ("/obstacles", "/radar")])
def test_topics_are_found_by_type_and_never_guessed(
    topics: tuple[str, ...], tmp_path: Path
) -> None:
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        for t in steps(1.0):
            writer.transform(at(t), Pose())
            writer.footprint(at(t), EGO, topic="/ego/outline")
            for topic in topics:
                road.obstacles(t, [thing(CAR, 20.0, 0.0)], topic=topic)
    parameters = {"obstacles.topic": "seen"}
    if len(topics) == 1:
        result = replay(tmp_path / "bag", tmp_path, parameters=parameters)
        assert result.outcome is Outcome.PASSED
    else:
        words = "may be any of /obstacles, /radar"
        broken(tmp_path / "bag", tmp_path, words, parameters=parameters)


def test_zero_stamps_is_broken(tmp_path: Path) -> None:
    bag = drive(tmp_path / "bag", lambda road, t: t or car_ahead(road, t), 2.0)
    fault = {"fault": "drop", "topic": "/obstacles", "from": 0.0, "status": "NO_OBSTACLES"}
    broken(bag, tmp_path, "no stamp was evaluated", faults=(FaultSpec.parse(fault),))
    assert {row.status for row in rows_of(tmp_path)} == {Status.NO_OBSTACLES}


@pytest.mark.requirement("D-6")
@pytest.mark.parametrize(
    ("topic", "kind"), [("/obstacles", OBSTACLE_ARRAY), ("/footprint", POLYGON_STAMPED)]
)
def test_message_that_is_not_decoded_is_unknown_and_broken(
    topic: str, kind: str, tmp_path: Path
) -> None:
    def end(road: Road) -> None:
        connection = road.writer._connections[topic, kind]
        road.writer._writer.write(connection, at(1.05), b"\x00\x01\x00\x00\xff\xff")
        if topic == "/footprint":
            car_ahead(road, 1.1)

    bag = drive(tmp_path / "bag", end=end)
    broken(bag, tmp_path, "1 messages could not be decoded")
    *_, before, last = rows_of(tmp_path)
    assert before.verdict is Verdict.FREE
    assert (last.verdict, last.status) == (Verdict.UNKNOWN, Status.INTERNAL_ERROR)


# ---- time


def test_silence_is_evaluated(tmp_path: Path) -> None:
    """Without it, the stamps of a sensor that has died would not be there to be judged."""
    replay(write(tmp_path, "dropout"), tmp_path)
    silent = [row for row in rows_of(tmp_path) if row.cause == "silence"]
    assert len(silent) == 15  # 1.95 s to 3.5 s at 10 Hz
    assert silent[-1].status is Status.STALE_OBSTACLES
    assert [row.obstacle_age for row in silent] == pytest.approx([0.1 * k for k in range(1, 16)])


def test_clock_may_be_refused(tmp_path: Path) -> None:
    """Without the bag's clock, log time rules, and stamps of another clock are in the future."""
    result = replay(write(tmp_path, "clock_jump"), tmp_path, topics={"clock": "none"})
    assert result.outcome is Outcome.PASSED
    assert rows_of(tmp_path)[0].status is Status.FUTURE_STAMP


def test_header_stamps_of_another_clock(tmp_path: Path) -> None:
    """A driver that counts from its start: too old, with what to do; then as by one clock."""
    found = []
    for name, shift in (("one", 0.0), ("other", -900.0)):
        with BagWriter(tmp_path / name) as writer:
            road = Road(writer)
            for t, late in zip(steps(2.0), cycle((0.01, 0.0, 0.03)), strict=False):
                road.ego(t + shift, Pose(t, 0.0, 0.0), log=t + late)
                road.obstacles(t + shift, [thing(CAR, 6.5, 0.0)], log=t + late)
        for clock in ("none", "header"):
            result = replay(tmp_path / name, tmp_path, topics={"clock": clock})
            rows = rows_of(tmp_path)
            found.append([(row.verdict, row.distance, row.obstacle_age) for row in rows])
            notes = [each for each in result.summary["notes"] if "another clock" in each]
            assert bool(notes) == (name == "other" and clock == "none")
            for note in notes:
                assert note.startswith("header stamps are 900.0 s behind the log times")
                assert {row.verdict for row in rows} == {Verdict.UNKNOWN}
    assert found[0] == found[1] == found[3]
    assert {Verdict.FREE, Verdict.COLLISION} <= {verdict for verdict, *_ in found[0]}


def test_memory_does_not_grow_with_the_bag(tmp_path: Path) -> None:
    """Ten times as long takes no more memory; 10 MB are left for the allocator's whims."""
    program = (
        "import resource, sys; from gjk_collision.__main__ import main; code = main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss); sys.exit(code)"
    )
    peaks = []
    for seconds in (10, 100):
        with BagWriter(tmp_path / f"{seconds}") as writer:
            road = Road(writer)
            for t in steps(seconds):
                road.ego(t, Pose(0.1 * t, 0.0, 0.0))
                road.obstacles(t, [thing(CAR, 9.0 + i, 4.0 * i, 0.1 * t) for i in range(10)])
        command = [sys.executable, "-c", program, "replay", tmp_path / f"{seconds}", "--quiet"]
        options = "--no-page", "--out", tmp_path / "out"
        done = subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE)
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 10_000, peaks  # kB


def test_interrupt_leaves_a_valid_partial_report(tmp_path: Path) -> None:
    drive(tmp_path / "long", seconds=600.0)
    command = [sys.executable, "-m", "gjk_collision", "replay", tmp_path / "long"]
    # A background job is born deaf to Ctrl-C, and so would be what it starts.
    hearing = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen([*command, "--out", tmp_path, "--quiet"], preexec_fn=hearing)  # noqa: PLW1509
    results = tmp_path / "long" / "results.jsonl"
    deadline = time.monotonic() + 60.0
    while not (results.is_file() and results.stat().st_size > 20_000):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(60.0) == Outcome.INTERRUPTED
    rows = rows_of(tmp_path, "long")
    summary = json.loads((tmp_path / "long" / "summary.json").read_text())
    assert summary["outcome"] == "interrupted"
    assert len(rows) == summary["stamps"] < 12_001


# ---- frames and sources


def test_sources_in_frames_of_their_own(tmp_path: Path) -> None:
    quarter = 0.5 * np.pi
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        writer.transform(at(0.0), Pose(100.0, 0.0, quarter), "map", "odom", topic="/tf_static")
        writer.transform(at(0.0), Pose(2.0, 0.0, 0.0), "base_link", "lidar", topic="/tf_static")
        for t in steps(1.0):
            road.frame = "odom"
            road.ego(t, Pose(10.0 * t, 0.0, 0.0))
            road.frame = "map"
            road.obstacles(t, [thing(CAR, 100.0, 40.0, quarter)], topic="/mapped")  # 40 in odom
            road.frame = "lidar"
            road.obstacles(t, [thing(CAR, 6.0, 0.0)], topic="/seen")  # 2 m before the bumper
    parameters = {
        "obstacle_sources": ["mapped", "seen"], "seen.inflation": 0.5, "mapped.required": False,
    }  # fmt: skip
    assert replay(tmp_path / "bag", tmp_path, parameters=parameters).outcome is Outcome.PASSED
    for row in rows_of(tmp_path):
        assert row.status is Status.SUCCESS
        assert row.nearest_source == "seen"
        assert row.distance == pytest.approx(6.0 + 2.0 - 2.25 - 3.75 - 0.5, abs=1e-8)
    parameters["obstacle_sources"] = ["mapped"]
    del parameters["seen.inflation"]
    replay(tmp_path / "bag", tmp_path, parameters=parameters, topics={"obstacles": "/mapped"})
    for row, t in zip(rows_of(tmp_path), steps(1.0), strict=True):
        assert row.distance == pytest.approx(40.0 - 2.25 - 3.75 - 10.0 * t, abs=1e-6)


def test_source_has_the_same_name_in_a_replay_as_in_the_node(tmp_path: Path) -> None:
    """The name of the source, whatever its topic; the topic in a message is that of the bag."""

    def each(road: Road, t: float) -> None:
        if t >= 0.5:
            road.obstacles(t, [thing(CAR, 20.0, 0.0)], topic="/r1/objects")

    bag = drive(tmp_path / "bag", each)
    parameters = {"obstacle_sources": ["seen"], "seen.topic": "perception/objects"}
    topics = {"obstacles": "/r1/objects"}
    replay(bag, tmp_path, parameters=parameters, topics=topics)
    first, *_, last = rows_of(tmp_path)
    assert first.message.startswith("seen: no message received on the topic '/r1/objects': is")
    assert first.bad_sources == ("seen",)
    assert last.nearest_source == "seen"


def test_no_obstacle_is_free_and_infinitely_far(tmp_path: Path) -> None:
    bag = drive(tmp_path / "bag", lambda road, t: road.obstacles(t, []))
    result = replay(bag, tmp_path)
    assert result.outcome is Outcome.PASSED
    assert result.summary["closest"] is None
    found = {(row.verdict, row.distance, row.nearest_id) for row in rows_of(tmp_path)}
    assert found == {(Verdict.FREE, inf, -1)}


def test_error_is_unknown_and_fails(
    approach: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("bug")

    monkeypatch.setattr("gjk_collision.server.server.state", fail)
    result = replay(approach, tmp_path)
    assert result.outcome is Outcome.FAILED
    assert "bug" in result.failures[0]
    assert {row.status for row in rows_of(tmp_path)} == {Status.INTERNAL_ERROR}


# ---- transforms


@pytest.mark.parametrize("clock", [False, True])
@pytest.mark.parametrize(
    ("lead", "status", "note"),
    [
        (0.5, Status.SUCCESS, ""),
        (1.5, Status.TF_EXTRAPOLATION, ""),
        (2.5, Status.TF_EXTRAPOLATION, "1 transforms were not used: its stamp is more than 2 s"),
    ],
)
def test_pose_of_a_bag_across_a_silence(
    lead: float, status: Status, note: str, clock: bool, tmp_path: Path
) -> None:
    """One transform at 0 s, one at 1 s that is stamped ahead; obstacles at 1 s, of then.

    The same by log time and by a clock of the bag that runs 1000 s behind.
    """
    shift = -1000.0 if clock else 0.0
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        for t, stamp in ((0.0, 0.0), (1.0, 1.0 + lead)):
            if clock:
                writer.clock(at(t + shift), log=at(t) - 2)
            writer.transform(at(stamp + shift), Pose(), "odom", "lidar", log=at(t) - 1)
            road.ego(t + shift, log=t)
            road.frame = "lidar"  # of the obstacles
            road.obstacles(t + shift, [thing(CAR, 20.0, 0.0)], log=t)
            road.frame = "odom"
    result = replay(tmp_path / "bag", tmp_path)
    assert rows_of(tmp_path)[-1].status is status
    assert [each[: len(note)] for each in result.summary["notes"]] == [note] * bool(note)


# ---- finding bags


def test_find_bags(approach: Path, tmp_path: Path) -> None:
    shutil.copytree(approach, tmp_path / "a" / "one")
    shutil.copy(next(approach.glob("*.mcap")), tmp_path / "two.mcap")
    assert find_bags(tmp_path) == [tmp_path / "a" / "one", tmp_path / "two.mcap"]
    with pytest.raises(BagError):
        find_bags(tmp_path / "three")


@needs_data
@pytest.mark.parametrize("name", ["test_bag_mcap", "test_bag_sqlite3"])
def test_bags_written_by_ros_are_read(name: str, tmp_path: Path) -> None:
    """Of another project, with 94 topics; none holds obstacles, and that is said."""
    with Bag(DATA / "bags" / name) as bag:
        messages = list(bag.messages(["/test/geometry_msgs/polygon_stamped"]))
        assert len(messages) == 2
        assert len(bag.decode(messages[0]).polygon.points) > 0
    broken(DATA / "bags" / name, tmp_path, "missing topic")


# ---- a part of a recording: --from and --to


def part(case: Case, out: Path, begin: float, end: float, golden: Path | None = None) -> Result:
    return run(case, out, Options(golden, page=False, span=Span(begin, end)))


def test_stamps_of_a_part_are_those_of_the_whole(approach: Path, tmp_path: Path) -> None:
    case = Case("drive", approach)
    run(case, tmp_path / "whole", Options(page=False))
    whole = rows_of(tmp_path / "whole")
    result = part(case, tmp_path / "part", 1.0, 2.5)
    rows = rows_of(tmp_path / "part")
    assert [row.time for row in rows] == [at(t) for t in steps(4.0) if 1.0 <= t <= 2.5]
    assert rows == [row for row in whole if row.time in {each.time for each in rows}]
    assert result.summary["stamps"] == len(rows) == 31
    assert result.summary["identity"]["judged"] == [1.0, 2.5]
    assert "only stamps from 1 s to 2.5 s" in result.summary["notes"][0]


def test_data_before_the_part_is_processed(tmp_path: Path) -> None:
    """The footprint and the obstacles are received once, before the part."""
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        for t in (0.0, 5.0):
            road.ego(t)
            road.obstacles(t, [thing(CAR, 20.0, 0.0)])
    case = Case("drive", tmp_path / "bag")
    run(case, tmp_path / "whole", Options(page=False))
    part(case, tmp_path / "part", 0.05, 0.15)
    rows = rows_of(tmp_path / "part")
    assert {row.verdict for row in rows} == {Verdict.FREE}
    assert {row.cause for row in rows} == {"silence"}
    assert all(row in rows_of(tmp_path / "whole") for row in rows)


def test_part_without_a_stamp_is_broken(tmp_path: Path, approach: Path) -> None:
    result = part(Case("drive", approach), tmp_path, 1.01, 1.04)
    assert result.outcome is Outcome.BROKEN
    assert result.failures == ["no stamp was evaluated: from 1.01 s to 1.04 s"]


def test_golden_is_compared_in_the_part_only(approach: Path, tmp_path: Path) -> None:
    case = Case("drive", approach)
    run(case, tmp_path / "golden", Options(page=False))
    result = part(case, tmp_path / "part", 1.0, 2.5, tmp_path / "golden")
    assert result.outcome is Outcome.PASSED
    assert result.summary["golden"]["compared"] == 31
    assert result.summary["golden"]["changes"] == {}
    golden = tmp_path / "golden" / "drive" / "results.jsonl"
    golden.write_text(golden.read_text().replace('"FREE"', '"COLLISION"'))
    assert part(case, tmp_path / "other", 1.0, 2.5, golden).outcome is Outcome.FAILED


def test_expectations_outside_of_the_part_are_not_tested_and_named(
    approach: Path, tmp_path: Path
) -> None:
    windows = [
        {"from": 0.0, "to": 1.0, "verdict": "COLLISION"},  # wrong, and outside
        {"from": 0.0, "to": 1.5, "verdict": "FREE"},
        {"from": 3.5, "to": 4.0, "verdict": "COLLISION"},
    ]
    reactions = [{"at": 3.0, "verdict": "COLLISION", "within": 0.5}]
    stops = [{"from": 0.0, "to": 2.0, "at_most": 0.0}]
    expect = parse({"windows": windows, "reactions": reactions, "false_stops": stops})
    given = {"fault": "drop", "topic": "/obstacles", "from": 3.8, "status": "NO_OBSTACLES"}
    fault = FaultSpec.parse(given)
    case = Case("drive", approach, expect=tuple(expect), faults=(fault,))
    result = part(case, tmp_path, 1.2, 2.5)
    assert result.outcome is Outcome.PASSED
    assert [each["text"] for each in result.summary["expectations"]] == ["0 to 1.5 s: FREE"]
    left_out = [each for each in result.summary["notes"] if each.startswith("not tested")]
    assert len(left_out) == 5
    assert "not tested, because it is outside: COLLISION within 0.5 s after 3 s" in left_out
    result = part(Case("drive", approach, expect=tuple(expect[2:3])), tmp_path, 1.2, 2.5)
    assert outcome_text([result]) == "not judged"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--from", "2", "--to", "1"), "--to: must be > --from, which is 2 (got 1)"),
        (("--from", "2", "--to", "2"), "--to: must be > --from, which is 2 (got 2)"),
        (("--from", "-1"), "--from: must be >= 0 (got -1)"),
        (("--from", "nan"), "--from: must be >= 0 (got nan)"),
        (("--to", "nan"), "--to: must be > --from"),
        (("--from", "5"), "--from: must be <= 4.000000, the duration of approach in seconds"),
        (("--to", "4.1"), "--to: must be <= 4.000000, the duration of approach in seconds"),
    ],
)
def test_wrong_times_are_refused(
    words: tuple[str, ...], text: str, approach: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """A mistyped time must not replace a result that took an hour."""
    earlier = tmp_path / "approach" / "results.jsonl"
    earlier.parent.mkdir()
    earlier.write_text("earlier")
    assert main(["replay", str(approach), "--out", str(tmp_path), "--no-page", *words]) == 2
    shown = capsys.readouterr()
    assert text in shown.out + shown.err
    assert [each.read_text() for each in earlier.parent.iterdir()] == ["earlier"]


def test_the_whole_recording_may_be_named(approach: Path, tmp_path: Path) -> None:
    """Its end, as the page shows it."""
    out = tmp_path / "out"
    assert main(["replay", str(approach), "--out", str(out), "--from", "0", "--to", "4"]) == 0
    assert len(rows_of(out, "approach")) == 81
    assert "only stamps from 0 s to 4 s" in (out / "approach" / "index.html").read_text()


# ---- twist


SMALL, LONG = [1.0, 0.5, -1.0, 0.5, -1.0, -0.5, 1.0, -0.5], [9.0, 1, -1, 1, -1, -1, 9, -1]
BY_SPEED = {
    "footprint_names": ["small", "long"], "small.footprint": SMALL, "long.footprint": LONG,
    "speed_footprints": ["small", "long"], "small.linear_max": 3.0, "twist_topic": "odom",
}  # fmt: skip


def odometry(writer: BagWriter, t: float, vx: float) -> None:
    spread = {"covariance": np.zeros(36)}
    how = {"twist": {"linear": {"x": vx}}, **spread}
    where = {"header": writer.header(at(t), "odom"), "child_frame_id": "base_link"}
    made = message(writer._store, ODOMETRY, **where, pose=spread, twist=how)
    writer.write("/odom", ODOMETRY, at(t), made)


def with_twist(path: Path, *, has_twist: bool = True) -> Path:
    """The vehicle stands 18 m before a car. Its twist says 2 m/s, then 6, then nothing."""

    def each(road: Road, t: float) -> None:
        if has_twist and t < 1.4:
            odometry(road.writer, t, 2.0 if t < 0.7 else 6.0)
        road.obstacles(t, [thing(CAR, 18.0, 0.0)])

    return drive(path, each, 2.0)


def test_rows_have_the_time_to_collision(tmp_path: Path) -> None:
    with_twist(tmp_path / "bag")
    how = {"twist_topic": "odom", "prediction_policy": "hold", "twist_timeout": 0.2}
    result = replay(tmp_path / "bag", tmp_path, parameters=how)
    assert result.outcome is Outcome.PASSED, result.failures
    rows = rows_of(tmp_path)
    plain = tmp_path / "plain"
    replay(tmp_path / "bag", plain, parameters={"prediction_policy": "hold"})
    for row, other in zip(rows, rows_of(plain), strict=True):
        assert (row.verdict, row.distance) == (other.verdict, other.distance)
        assert isnan(other.time_to_collision)
        t = (row.time - at(0.0)) * 1e-9
        if t > 1.55 + 0.05:
            assert isnan(row.time_to_collision)
        elif t < 1.35:
            exact = row.distance / (2.0 if t < 0.7 - 1e-6 else 6.0)
            late = row.time_to_collision - exact
            assert -0.01 < late <= 1e-9 or (row.time_to_collision == inf and exact > 4.9)
    assert "time_to_collision" in (tmp_path / "drive" / "results.jsonl").read_text()
    assert "time_to_collision" not in (plain / "drive" / "results.jsonl").read_text()


def test_speed_selects_in_a_replay(tmp_path: Path) -> None:
    with_twist(tmp_path / "bag")
    replay(tmp_path / "bag", tmp_path, parameters={**BY_SPEED, "twist_timeout": 0.2})
    seen = [(row.verdict, row.status) for row in rows_of(tmp_path)]
    first = seen.index((Verdict.FREE, Status.SUCCESS))
    gaps = {round(row.distance, 3) for row in rows_of(tmp_path)[first:] if not isnan(row.distance)}
    assert len(gaps) == 2  # of the small one, then of the long one, 8 m less
    assert max(gaps) - min(gaps) == pytest.approx(8.0)
    assert seen[-1] == (Verdict.UNKNOWN, Status.STALE_FOOTPRINT)


def test_bag_without_the_twist_that_selects_is_refused(tmp_path: Path) -> None:
    with_twist(tmp_path / "bag", has_twist=False)
    result = replay(tmp_path / "bag", tmp_path, parameters=BY_SPEED)
    assert result.outcome is not Outcome.PASSED
    assert "/odom for twist" in str(result)
    plain = {"twist_topic": "odom", "footprint": SMALL}
    result = replay(tmp_path / "bag", tmp_path, parameters=plain)
    assert result.outcome is Outcome.PASSED


# ---- requests of other versions

# Fields of today that these requests and their replies do not have.
ADDED = {"footprint", "arcs", "footprints", "group_offsets", "k", "which", "gradients"}
LINE = "=" * 80


def without(name: str) -> str:
    """Return the text of a file of this package without the fields of `ADDED`."""
    lines = (ROOT / name).read_text().splitlines()
    return "\n".join(line for line in lines if not ADDED & {*line.split()[1:2]})


def older_definition(service: str) -> str:
    """Return the definition of the events of a service as rosbag2 writes it."""
    parts = [f"SRV: gjk_collision/srv/{service}\n{without(f'srv/{service}.srv')}"]
    parts += [
        f"MSG: gjk_collision/{name}\n{without(f'msg/{name}.msg')}"
        for name in ("Verdict", "ReplyInfo")
    ]
    return "".join(f"{LINE}\n{each}\n" for each in parts)


def asked(store: Any, service: str, rng: np.random.Generator) -> Any:
    """Return an event with a request and a reply."""
    kind = f"gjk_collision/srv/msg/{service}"
    poses = {"poses": rng.uniform(-9.0, 9.0, 6)} if service.startswith("Check") else {}
    request = message(store, f"{kind}_Request", margin=float(rng.uniform()), **poses)
    info = {"snapshot_id": int(rng.integers(1 << 40)), "bad_sources": ["a"]}
    verdict = {"verdict": int(rng.integers(4)), "message": "why"}
    reply = message(store, f"{kind}_Response", info=info, verdict=verdict)
    about = message(
        store, "service_msgs/msg/ServiceEventInfo", client_gid=np.arange(16, dtype=np.uint8)
    )
    event = message(store, f"{kind}_Event", info=about, request=[request], response=[reply])
    return store.deserialize_cdr(store.serialize_cdr(event, f"{kind}_Event"), f"{kind}_Event")


def parts(event: Any) -> tuple[Any, ...]:
    return event.request[0], event.response[0], event.response[0].info


@pytest.mark.parametrize("service", ["CheckPath", "CheckPoses", "Collide"])
@pytest.mark.parametrize("form", ["rosbag2", "rosbags", "none"])
def test_requests_of_another_version(form: str, service: str, tmp_path: Path) -> None:
    """Fields that they do not have are 0 or empty. Without a definition, they are refused."""
    kind, definition = f"gjk_collision/srv/{service}_Event", older_definition(service)
    rng = np.random.default_rng(8)
    types = defined_types(kind, definition)
    sent = [asked(typestore(types), service, rng) for _ in range(5)]
    with BagWriter(tmp_path / "bag") as writer:
        define(writer, types)
        for count, event in enumerate(sent):
            if form == "rosbags":
                internal = f"gjk_collision/srv/msg/{service}_Event"
                writer.write("/asked", internal, at(count * 1e-3), event)
                continue
            data = bytes(writer._store.serialize_cdr(event, event.__msgtype__))
            text = definition if form == "rosbag2" else ""
            write_undefined(writer, "/asked", kind, at(count * 1e-3), data, text)
    with Bag(tmp_path / "bag") as bag:
        recorded = [*bag.messages(["/asked"])]
        if form == "none":
            with pytest.raises(BagError, match=f"{service}_Event is not defined in the bag"):
                bag.decode(recorded[0])
            return
        found = [bag.decode(each) for each in recorded]
    assert len(found) == len(sent) == 5
    for event, now in zip(sent, found, strict=True):
        for old, new in zip(parts(event), parts(now), strict=True):
            assert type(old).__name__ == type(new).__name__
            for name in vars(new).keys() - {"info"}:
                value = getattr(new, name)
                if name in vars(old):
                    assert repr(value) == repr(getattr(old, name))
                else:
                    assert name in ADDED and list(np.ravel(value)) in ([], [0], [""])
        assert now.response[0].info.footprint == ""


@pytest.mark.parametrize("first", [0, at(-6 * 3600.0)])
def test_jump_of_the_log_times_is_noted_and_not_filled_with_stamps(
    first: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Recording with simulated time can begin with a message of log time 0.

    Otherwise, millions of stamps are evaluated, or the memory is not enough.
    """

    def early(road: Road) -> None:
        road.writer.transform(at(0.0), Pose(), "odom", "other", log=first)

    bag = drive(tmp_path / "early", end=early)
    assert main(["replay", str(bag), "--out", str(tmp_path)]) == 0
    rows = rows_of(tmp_path, "early")
    silent = [row.time - first for row in rows if row.cause == "silence"]
    assert silent == [k * 10**8 for k in range(1, 101)], "10 s of silence at 10 Hz"
    replay(drive(tmp_path / "drive"), tmp_path)
    assert [replace(row, snapshot_id=0) for row in rows if row.cause == "data"] == [
        replace(row, snapshot_id=0) for row in rows_of(tmp_path)
    ]
    summary = json.loads((tmp_path / "early" / "summary.json").read_text())
    end = (at(0.0) - first) * 1e-9
    jump = f"no message from 0.000 to {end:.3f} s, for {end:.3f} s; no stamp is evaluated after 10"
    assert any(f"the log times jump: {jump}" in note for note in summary["notes"])
    [event] = [each for each in summary["events"]["kept"] if "jump" in each["what"]]
    assert jump in event["why"]
    assert all(len(each["digests"]) <= 8 * 1024 for each in
               summary["origin"]["recording"].values())  # fmt: skip
    at_end = f"{(at(1.0) - first) * 1e-9:.6f}"
    assert main(["trace", str(bag), "--at", at_end]) == 0
    assert main(["replay", str(bag), "--from", at_end, "--out", str(tmp_path / "part")]) == 0
    assert len(rows_of(tmp_path / "part", "early")) == 1


def test_silence_is_evaluated_up_to_the_longest_timeout(tmp_path: Path) -> None:
    """Otherwise, it is not visible that the data becomes too old."""
    bag = drive(tmp_path / "bag", end=lambda road: road.ego(100.0))
    replay(bag, tmp_path, parameters={"obstacles.timeout": 30.0, "footprint_timeout": 40.0})
    assert [row.time for row in rows_of(tmp_path)][-1] == at(41.0)


@pytest.mark.parametrize(
    ("storage", "time"), [("mcap", 2**63), ("mcap", 2**64 - 2), ("sqlite3", -5)]
)
def test_log_times_that_ros_does_not_have_are_refused(
    storage: Storage, time: int, tmp_path: Path
) -> None:
    """Otherwise, a replay ends with an OverflowError."""

    def other(road: Road) -> None:
        road.writer.footprint(at(0.0), EGO, log=time)

    bag = drive(tmp_path / "bag", end=other, storage=storage)
    broken(bag, tmp_path, "log times must be >= 0 and < 2^63 ns", f"{time}")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("[1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0, 1.0]", "footprint: is not a footprint"),
        ("[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]", "footprint: is not a footprint"),
        ("[1, 0.5, -1, 0.5, -1, -0.5]", "the list 'footprint' must not have both integers and"),
    ],
)
@pytest.mark.parametrize("kind", ["file", "scenario"])
def test_wrong_parameter_is_no_fault_of_the_bag(
    kind: str, value: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise, a good recording is searched for damage, or a file fails only in the node."""
    bag, out = drive(tmp_path / "bag"), tmp_path / "out"
    text = f"{{ros__parameters: {{footprint: {value}}}}}"
    (tmp_path / "p.yaml").write_text(f"/**: {text}")
    (tmp_path / "s.yaml").write_text(f"bag: bag\nname: bag\nparameters: {{footprint: {value}}}")
    assert main(["replay", str(bag), "--out", str(out)]) == 0
    before = (out / "bag" / "summary.json").read_bytes()
    given = [str(tmp_path / "s.yaml")] if kind == "scenario" else [str(bag)]
    options = [] if kind == "scenario" else ["--params", str(tmp_path / "p.yaml")]
    capsys.readouterr()
    assert main(["replay", *given, *options, "--out", str(out)]) == 2
    assert words in capsys.readouterr().err
    assert (out / "bag" / "summary.json").read_bytes() == before
    assert main(["trace", *given, *options, "--at", "0.5"]) == 2

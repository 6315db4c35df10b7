# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The file that a replay writes for other programs: mcap, for Foxglove."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import NPM, needs_npm
from replays import rows_of, with_requests
from write_scenarios import CAR, Road, at, steps, write

from gjk_collision.__main__ import main
from gjk_collision.replay.bag import Bag
from gjk_collision.replay.rows import Row
from gjk_collision.replay.write import BagWriter
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.verdict import Verdict

BIG = 2**62 + 1  # float64 does not hold it


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 s: no obstacle list, then a list without obstacles, then one with a large id."""
    bag = tmp_path_factory.mktemp("bags") / "drive"
    with BagWriter(bag) as writer:
        road = Road(writer)
        for t in steps(2.0):
            road.ego(t)
            if t >= 1.0:
                car = {
                    "ids": np.array([BIG]), "offsets": np.array([0, 4], np.uint32),
                    "xy": np.ravel(CAR) + [20.1, 0.1] * 4,
                }  # fmt: skip
                more = car if t >= 1.5 else {}
                writer.obstacles(Obstacles("odom", at(t), sequence=round(t * 20), **more))
    return bag


@pytest.fixture(scope="module")
def answers(drive: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Row]]:
    out = tmp_path_factory.mktemp("answers")
    assert replayed(drive, out, "--mcap", str(out / "answers.mcap")) == 0
    return out / "answers.mcap", rows_of(out, "drive")


def replayed(bag: Path, out: Path, *words: str) -> int:
    return main(["replay", str(bag), "--out", str(out), "--no-page", "--quiet", *words])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "--mcap: must end in .mcap"),
        ("no/t.mcap", "does not exist"),
        ("there.mcap", "there.mcap exists: delete it, or use another name"),
        ("link.mcap", "exists: delete it"),
    ],
)
def test_wrong_name_of_an_export(
    name: str, text: str, drive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there.mcap").write_text("mine")
    (tmp_path / "link.mcap").symlink_to(tmp_path / "elsewhere.mcap")
    assert replayed(drive, tmp_path / "out", "--mcap", str(tmp_path / name)) == 2
    assert text in capsys.readouterr().err
    assert (tmp_path / "there.mcap").read_text() == "mine"
    assert not (tmp_path / "out").exists(), "refused before the replay"


def test_one_export_of_several_bags_is_refused(
    drive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(tmp_path, "approach")
    words: list[Any] = ["replay", str(drive), str(other), "--mcap", str(tmp_path / "t.mcap")]
    assert main(words) == 2
    assert "must be used with one bag or case" in capsys.readouterr().err


# ---- mcap


def messages_of(path: Path) -> dict[str, list[tuple[int, Any]]]:
    from mcap.reader import make_reader
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    found: dict[str, list[tuple[int, Any]]] = {}
    store = get_typestore(Stores.EMPTY)
    known = set()
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        for schema, channel, message in reader.iter_messages():
            assert schema is not None
            assert (schema.encoding, channel.message_encoding) == ("ros2msg", "cdr")
            if schema.name not in known:
                known.add(schema.name)
                store.register(get_types_from_msg(schema.data.decode(), schema.name))
            decoded = store.deserialize_cdr(message.data, schema.name)
            found.setdefault(channel.topic, []).append((message.log_time, decoded))
    return found


def test_mcap_has_the_answers_at_the_times_of_the_bag(answers: tuple[Path, list[Row]]) -> None:
    path, rows = answers
    found = messages_of(path)
    assert set(found) == {"/replay/state", "/replay/markers"}
    for messages in found.values():
        assert [time for time, _ in messages] == [row.time for row in rows]
    for count, ((_, state), row) in enumerate(zip(found["/replay/state"], rows, strict=True), 1):
        assert state.counter == count
        stamp = state.header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec == row.now
        assert state.header.frame_id == "odom"
        assert (state.verdict.verdict, state.verdict.status) == (row.verdict, row.status)
        assert state.verdict.message == row.message
        assert state.distance == pytest.approx(row.distance, abs=1e-9, nan_ok=True)
        assert (state.nearest_id, state.nearest_source) == (row.nearest_id, row.nearest_source)
        assert state.info.snapshot_id == row.snapshot_id
        assert state.info.bad_sources == list(row.bad_sources)
    assert found["/replay/state"][-1][1].nearest_id == BIG


def test_mcap_has_the_golden_answers_and_the_change(drive: Path, tmp_path: Path) -> None:
    """Three topics: the golden answer, the new one, and what has changed."""
    golden = tmp_path / "drive"
    assert replayed(drive, tmp_path) == 0
    (tmp_path / "p.yaml").write_text("/**: {ros__parameters: {obstacles: {inflation: 2.0}}}")
    export = ["--mcap", str(tmp_path / "both.mcap"), "--params", str(tmp_path / "p.yaml")]
    out = tmp_path / "new"
    assert replayed(drive, out, *export, "--golden", str(golden / "results.jsonl")) == 1
    found = messages_of(tmp_path / "both.mcap")
    assert set(found) == {
        "/replay/state", "/replay/markers", "/golden/state", "/difference/change"
    }  # fmt: skip
    for (time, old), (again, new), (_, change) in zip(
        found["/golden/state"], found["/replay/state"], found["/difference/change"], strict=True
    ):
        assert time == again and old.counter == new.counter
        is_near = new.nearest_id == BIG
        assert change.data == ("distance" if is_near else "no change")
        assert old.verdict.verdict == new.verdict.verdict
        by = 2.0 if is_near else 0.0
        assert old.distance == pytest.approx(new.distance + by, nan_ok=True)
        assert old.info.max_obstacle_age == pytest.approx(new.info.max_obstacle_age, nan_ok=True)


def test_mcap_has_the_answers_to_requests(tmp_path: Path) -> None:
    with_requests(tmp_path / "bag", Verdict.COLLISION)
    export = tmp_path / "answers.mcap"
    assert replayed(tmp_path / "bag", tmp_path, "--mcap", str(export)) == 0
    found = messages_of(export)
    asked = [row for row in rows_of(tmp_path, "bag") if not row.is_state]
    assert len(asked) == 4
    for row in asked:
        [(time, verdict)] = found[f"/replay/requests/{row.cause}"]
        assert (time, verdict.verdict, verdict.status) == (row.time, row.verdict, row.status)


def test_markers_of_an_mcap_file(answers: tuple[Path, list[Row]]) -> None:
    arrays = [array.markers for _, array in messages_of(answers[0])["/replay/markers"]]
    assert all(markers[0].action == 3 for markers in arrays), "the last drawing is deleted"
    assert all(each.header.frame_id == "odom" for markers in arrays for each in markers)
    last = {each.ns: each for each in arrays[-1]}
    assert set(last) == {"", "footprint", "obstacles", "witness"}
    corners = {(round(p.x, 6), round(p.y, 6)) for p in last["obstacles"].points}
    assert corners == {(x + 20.1, y + 0.1) for x, y in CAR}
    assert len(last["obstacles"].points) == len(last["obstacles"].colors) == 8
    assert sorted({round(p.x, 6) for p in last["witness"].points}) == [3.75, 17.85]
    first = {each.ns: each for each in arrays[0]}
    assert set(first) == {"", "footprint", "obstacles", "warning"}
    assert first["warning"].text.startswith("NO_OBSTACLES\n")


@needs_npm
def test_foxglove_reads_an_mcap_export(answers: tuple[Path, list[Row]]) -> None:
    """Its own readers: all checksums, the schemas that it publishes, and each message."""
    path, rows = answers
    here = Path(__file__).resolve()
    command = [here.parent / "foxglove.cjs", NPM.parent, path, here.parents[2] / "msg"]
    done = subprocess.run(["node", *map(str, command)], stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    assert found["header"]["profile"] == "ros2"
    assert found["isComplete"] and found["streamed"] == 2 * len(rows)
    assert found["schemas"] == {
        name: {"encoding": "ros2msg", "differences": []}
        for name in ("gjk_collision/msg/CollisionState", "visualization_msgs/msg/MarkerArray")
    }
    for messages in found["topics"].values():
        assert [int(time) for time, _ in messages] == [row.time for row in rows]
    (_, state), row = found["topics"]["/replay/state"][-1], rows[-1]
    assert float(state["distance"]) == pytest.approx(row.distance, abs=1e-9)
    assert int(state["nearest_id"]) == row.nearest_id == BIG


def test_bag_reader_opens_an_mcap_export(answers: tuple[Path, list[Row]]) -> None:
    """As `ros2 bag play` does."""
    with Bag(answers[0]) as bag:
        assert bag.topics["/replay/state"] == {"gjk_collision/msg/CollisionState"}
        for message in bag.messages(bag.topics):
            bag.decode(message)


def test_the_same_mcap_from_every_run(
    answers: tuple[Path, list[Row]], drive: Path, tmp_path: Path
) -> None:
    assert replayed(drive, tmp_path, "--mcap", str(tmp_path / "again.mcap")) == 0
    assert (tmp_path / "again.mcap").read_bytes() == answers[0].read_bytes()


def test_an_export_that_cannot_be_opened_is_named(
    drive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replayed(drive, tmp_path / "out", "--mcap", "/proc/x.mcap") == 2
    assert "--mcap: /proc/x.mcap cannot be written" in capsys.readouterr().out

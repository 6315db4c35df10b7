# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags with a twist, and bags whose requests have no field for a footprint yet."""

import json
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from replays import drive, replay, rows_of, write_undefined
from write_scenarios import CAR, Road, at, thing

from gjk_collision.replay.bag import Bag
from gjk_collision.replay.interfaces import older_types, typestore
from gjk_collision.replay.rows import Row
from gjk_collision.replay.write import BagWriter
from gjk_collision.report.outcome import Outcome
from gjk_collision.server.config import ODOMETRY
from gjk_collision.verdict import Status, Verdict

SMALL, LONG = [1.0, 0.5, -1.0, 0.5, -1.0, -0.5, 1.0, -0.5], [9.0, 1, -1, 1, -1, -1, 9, -1]
BY_SPEED = {
    "footprint_names": ["small", "long"], "small.footprint": SMALL, "long.footprint": LONG,
    "speed_footprints": ["small", "long"], "small.linear_max": 3.0, "twist_topic": "odom",
}  # fmt: skip


def odometry(writer: BagWriter, t: float, vx: float) -> None:
    types, geometry = writer.types, "geometry_msgs/msg/"
    zero = types[geometry + "Vector3"](0.0, 0.0, 0.0)
    twist = types[geometry + "Twist"](types[geometry + "Vector3"](vx, 0.0, 0.0), zero)
    pose = types[geometry + "Pose"](
        types[geometry + "Point"](0.0, 0.0, 0.0),
        types[geometry + "Quaternion"](0.0, 0.0, 0.0, 1.0),
    )
    where = types[geometry + "PoseWithCovariance"](pose, np.zeros(36))
    how = types[geometry + "TwistWithCovariance"](twist, np.zeros(36))
    message = types[ODOMETRY](writer.header(at(t), "odom"), "base_link", where, how)
    writer.write("/odom", ODOMETRY, at(t), message)


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


def test_row_reads_back() -> None:
    for value in (0.1234567891234, inf, 0.0):
        row = Row(1, 2, "data", Verdict.FREE, Status.SUCCESS, time_to_collision=value)
        back = Row.from_json(json.loads(row.to_json())).time_to_collision
        assert back == value or value - 1e-9 <= back <= value


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


# ---- recordings of version 0.8.0


def events(types: dict[str, Any], rng: np.random.Generator) -> Any:
    short, service = "gjk_collision/msg/", "gjk_collision/srv/msg/"
    stamp = types["builtin_interfaces/msg/Time"]
    header = types["std_msgs/msg/Header"](stamp(3, 4), "odom" * int(rng.integers(0, 4)))
    geometry = "geometry_msgs/msg/"
    x, y, margin = rng.uniform(-9.0, 9.0, 3).tolist()
    turn = types[geometry + "Quaternion"](0.0, 0.0, 0.0, 1.0)
    place = types[geometry + "Pose"](types[geometry + "Point"](x, y, 0.0), turn)
    pose = types[geometry + "PoseStamped"](header, place)
    n = int(rng.integers(0, 5))
    poses, times = rng.uniform(-9.0, 9.0, 3 * n), rng.uniform(0.0, 1.0, n * int(rng.integers(2)))
    verdict = types[short + "Verdict"](int(rng.integers(4)), 1, "why" * int(rng.integers(3)))
    about = types[short + "ReplyInfo"](
        header, int(rng.integers(1 << 40)), stamp(1, 2), 0.0, 0.5, ["a"] * n, 77, 0.001
    )
    of = {
        "Collide": (pose, margin),
        "Distance": (pose, n, margin),
        "CheckPoses": (header, poses, times, margin, 1, bool(n % 2), 12),
        "CheckPath": (header, poses, times, 1, margin, 0.0),
    }
    replies = {
        "Collide": (False, verdict, about, 5, "source"),
        "CheckPoses": (
            False, verdict, about, np.ones(n, np.uint8), np.ones(n, np.uint16), times, times,
            np.arange(n), poses[: n % 2], -1,
        ),
        "CheckPath": (False, verdict, about, 0, 0.5, 0.25, 9, 1.5, 1.25),
    }  # fmt: skip
    info = types["service_msgs/msg/ServiceEventInfo"]
    gid = rng.integers(0, 255, 16).astype(np.uint8)
    for name, fields in of.items():
        request = types[f"{service}{name}_Request"](*fields)
        made = types[f"{service}{name}_Event"]
        yield name, made(info(1, stamp(0, 0), gid, n), [request], [])
        if name in replies:
            reply = types[f"{service}{name}_Response"](*replies[name])
            yield name, made(info(2, stamp(0, 0), gid, n), [], [reply])
            yield name, made(info(2, stamp(0, 0), gid, n), [request], [reply])


def test_requests_of_older_recordings_are_read_as_they_were_sent(tmp_path: Path) -> None:
    """A message of an older version must not be taken for one of this version, or be lost."""
    rng = np.random.default_rng(8)
    store = typestore(older_types()[0])
    sent = []
    with BagWriter(tmp_path / "bag") as writer:
        for _ in range(50):
            for name, message in events(store.types, rng):
                kind = f"gjk_collision/srv/{name}_Event"
                data = bytes(store.serialize_cdr(message, f"gjk_collision/srv/msg/{name}_Event"))
                write_undefined(writer, f"/{name}", kind, at(len(sent) * 1e-3), data)
                sent.append(message)
    with Bag(tmp_path / "bag") as bag:
        read = [bag.decode(each) for each in bag.messages(bag.topics)]
    assert len(read) == len(sent) == 500
    for message, found in zip(sent, read, strict=True):
        assert repr(found.request) == repr(message.request)
        assert repr(found.response) == repr(message.response)

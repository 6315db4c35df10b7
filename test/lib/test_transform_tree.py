# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The transform tree: poses are those of tf2, and none that nobody measured is returned."""

import random
import struct
from typing import Any

import numpy as np
import pytest

from gjk_collision.server.frames.poses import FrameError, Pose
from gjk_collision.server.frames.transforms import (
    MAX_GAP,
    MAX_LEAD,
    Placement,
    TransformTree,
    decoded,
)
from gjk_collision.verdict import Status


class Tree(TransformTree):
    """A transform tree with the reasons why transforms were not used."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[str] = []

    def insert(self, *given: Any, static: bool) -> str:
        why = super().insert(*given, static=static)
        self.refusals += [why] * bool(why)
        return why


def fails(tree: TransformTree, stamp: int, source: str = "base", target: str = "odom") -> Status:
    with pytest.raises(FrameError) as caught:
        tree.lookup(target, source, stamp)
    return caught.value.status


def moving(tree: TransformTree, x: float, stamp: int, parent: str = "odom") -> str:
    return tree.insert(parent, "base", stamp, Placement((x, 0.0, 0.0)), static=False)


def test_transforms_as_tf2_has_them() -> None:
    half = 0.5 * np.pi
    quarter = (0.0, 0.0, float(np.sin(0.5 * half)), float(np.cos(0.5 * half)))
    tree = Tree()
    tree.insert("map", "odom", 0, Placement((10.0, 0.0, 0.0), quarter), static=True)
    tree.insert("odom", "base", 100, Placement((1.0, 0.0, 0.0)), static=False)
    tree.insert("odom", "base", 200, Placement((2.0, 0.0, 0.0), quarter), static=False)
    assert tree.lookup("odom", "base", 150) == pytest.approx((1.5, 0.0, 0.25 * np.pi))
    assert tree.lookup("map", "base", 100) == pytest.approx((10.0, 1.0, half))
    assert tree.lookup("base", "map", 100) == pytest.approx((-1.0, 10.0, -half))
    assert tree.latest("map", "base")[1] == 200
    assert fails(tree, 201) is fails(tree, 99) is Status.TF_EXTRAPOLATION
    assert fails(tree, 100, "nowhere") is Status.UNKNOWN_FRAME
    with pytest.raises(FrameError, match="'/map' does not exist: remove the slash at its begin"):
        tree.latest("odom", "/map")


def test_stamps_of_chains() -> None:
    """A static chain has none; a mixed chain has that of its oldest moving part."""
    tree = Tree()
    tree.insert("map", "odom", 0, Placement((10.0, 0.0, 0.0)), static=True)
    tree.insert("odom", "dock", 77, Placement((0.0, 5.0, 0.0)), static=True)
    assert tree.latest("map", "dock") == (Pose(10.0, 5.0, 0.0), 0)
    assert tree.latest("dock", "map") == (Pose(-10.0, -5.0, 0.0), 0)
    assert tree.oldest("map", "dock") == ""
    tree.insert("odom", "base", 200, Placement(), static=False)
    tree.insert("base", "lidar", 150, Placement(), static=False)
    assert tree.oldest("map", "lidar") == tree.oldest("lidar", "map") == "lidar"
    tree.insert("base", "lidar", 250, Placement(), static=False)
    assert tree.oldest("map", "lidar") == "base"
    assert tree.lookup("map", "dock", 10**18) == Pose(10.0, 5.0, 0.0)
    tree.insert("dock", "arm", 200, Placement(), static=False)
    for stamp in (100, 300):
        tree.insert("arm", "hand", stamp, Placement(), static=False)
    assert tree.latest("map", "hand")[1] == 200
    for parent, child in (("dock", "ghost"), ("arm", "finger")):
        tree.insert(parent, child, 0, Placement(), static=False)  # moving, though stamped 0
        with pytest.raises(FrameError) as caught:
            tree.latest("map", child)
        assert caught.value.status is Status.UNKNOWN_FRAME
    assert fails(tree, 0, "dock", "map") is Status.TF_EXTRAPOLATION


NOW = 100 * 10**9
SECOND = 10**9


def clocked(*stamps: int) -> Tree:
    """Moving transforms at 0, 1, 2 m and so on, stamped so, at the time NOW."""
    tree = Tree()
    tree.set_time(NOW)
    tree.insert("map", "odom", 0, Placement((10.0, 0.0, 0.0)), static=True)
    for i, stamp in enumerate(stamps):
        moving(tree, float(i), stamp)
    return tree


@pytest.mark.parametrize(
    ("before", "after", "is_known"),
    [
        (-SECOND, SECOND, True),
        (-SECOND, SECOND + 1, False),
        (-9 * SECOND, 1, False),
        (-9 * SECOND, 0, True),  # the newest transform is of the present time
    ],
)
def test_no_pose_across_a_silence(before: int, after: int, is_known: bool) -> None:
    """The present is between the two ends of a silence of more than 2 s, or it is its end."""
    tree = clocked(NOW + before, NOW + after)
    assert tree.lookup("map", "odom", NOW) == Pose(10.0, 0.0, 0.0)
    assert tree.latest("odom", "base") == (Pose(1.0, 0.0, 0.0), NOW + after)
    if is_known:
        tree.lookup("odom", "base", NOW)
        assert tree.refusals == []
    else:
        assert fails(tree, NOW) is Status.TF_EXTRAPOLATION


def turned(*rotation: float) -> Placement:
    return Placement((1.0, 2.0, 0.0), rotation)  # type: ignore[arg-type]


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("length", [1.0, 1.000001, 0.999, 1.0003, 1.004, 1.1, 2.0, 1e-3, 1e100])
def test_quaternions_of_any_length_are_rotations(length: float, static: bool) -> None:
    """So it was measured of tf2_ros.Buffer: its rule on the length is applied after scaling."""
    tree = Tree()
    half = length * float(np.sqrt(0.5))
    tree.insert("odom", "base", 100, turned(0.0, 0.0, half, half), static=static)
    assert tree.lookup("odom", "base", 100) == pytest.approx((1.0, 2.0, 0.5 * np.pi))
    assert tree.lookup("base", "odom", 100) == pytest.approx((-2.0, 1.0, -0.5 * np.pi))
    assert tree.refusals == []


NO_ROTATION, NO_PAIR = "its quaternion is not a rotation", "its parent and child must be two"


@pytest.mark.parametrize(
    ("placement", "parent", "stamp", "why"),
    [
        (turned(0.0, 0.0, 0.0, 0.0), "odom", 100, NO_ROTATION),
        (turned(0.0, 0.0, 0.0, 1e-160), "odom", 100, NO_ROTATION),
        (turned(0.0, 0.0, 0.0, np.nan), "odom", 100, NO_ROTATION),
        (turned(0.0, 0.0, 0.0, np.inf), "odom", 100, NO_ROTATION),
        (Placement((0.0, 0.0, np.nan)), "odom", 100, "its position is not a number"),
        (Placement(), "", 100, NO_PAIR),
        (Placement(), "/base", 100, NO_PAIR),
        (Placement(), "odom", 0, "its stamp on /tf is not positive"),
    ],
)
def test_transforms_that_are_left_out_have_a_reason(
    placement: Placement, parent: str, stamp: int, why: str
) -> None:
    tree = Tree()
    assert tree.insert(parent, "base", stamp, placement, static=False).startswith(why)
    assert fails(tree, 100) is Status.UNKNOWN_FRAME


def test_transforms_that_are_too_old_are_left_out() -> None:
    tree = Tree()
    moving(tree, 0.0, 20 * SECOND)
    moving(tree, 0.0, 10 * SECOND)
    assert tree.refusals == []
    moving(tree, 0.0, 10 * SECOND - 1)
    (why,) = tree.refusals
    assert why.startswith("it is more than 10 s older")


def test_an_infinite_position_is_no_pose() -> None:
    """It is between its neighbours, as in tf2, and nothing is interpolated past it."""
    tree = Tree()
    for stamp, z in ((100, 0.0), (200, np.inf), (300, 0.0)):
        tree.insert("odom", "base", stamp, Placement((0.0, 0.0, z)), static=False)
    assert {fails(tree, stamp) for stamp in (150, 200, 250)} == {Status.TF_UNAVAILABLE}


# ---- what a node cannot exclude: messages of an earlier time, silences, two publishers


@pytest.mark.requirement("D-10")
def test_clock_that_begins_drops_moving_transforms() -> None:
    tree = TransformTree()
    tree.insert("odom", "dock", 0, Placement((1.0, 0.0, 0.0)), static=True)
    moving(tree, 0.0, NOW - SECOND)
    moving(tree, 0.0, NOW + SECOND)
    assert tree.set_time(NOW)
    assert fails(tree, NOW) is not Status.SUCCESS
    assert tree.lookup("odom", "dock", NOW) == Pose(1.0, 0.0, 0.0)


def test_corrections_are_counted() -> None:
    tree = TransformTree(NOW)
    for x, wanted in ((1.0, 0), (1.0, 0), (2.0, 1), (2.0, 1), (1.0, 2)):
        tree.insert("odom", "lidar", 0, Placement((x, 0.0, 0.0)), static=True)
        assert tree.corrections == wanted
    tree.insert("map", "lidar", 0, Placement((1.0, 0.0, 0.0)), static=True)
    assert tree.corrections == 3
    for stamp in (NOW - 1, NOW):  # it becomes a moving one
        tree.insert("map", "lidar", stamp, Placement((1.0, 0.0, 0.0)), static=False)
        assert tree.corrections == 4


def test_late_transforms_are_counted() -> None:
    """Each one after which a pose at a stamp that was known may be another one."""
    tree = TransformTree(NOW)
    for parent, stamp, x, wanted in (
        ("odom", 10, 0.0, 0),
        ("odom", 20, 0.0, 0),
        ("odom", 10, 0.0, 0),
        ("odom", 10, 1.0, 1),
        ("odom", 15, 1.0, 2),
        ("map", 21, 1.0, 2),
        ("odom", 21, 1.0, 3),
        ("map", 5, 1.0, 4),
        ("map", 6, 1.0, 5),
        ("map", 22, 1.0, 5),
        ("map", 23, 1.0, 5),
    ):
        tree.insert(parent, "lidar", stamp, Placement((x, 0.0, 0.0)), static=False)
        assert tree.late == wanted
    tree.insert("lidar", "odom", 5, Placement(), static=False)  # it was the parent of another one
    assert tree.late == 6


def test_frames_in_a_loop_have_no_pose() -> None:
    tree = TransformTree(NOW)
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a")):
        tree.insert(parent, child, 0, Placement((1.0, 0.0, 0.0)), static=True)
    for target, source in (("a", "c"), ("c", "a"), ("b", "b")):
        assert fails(tree, NOW, source, target) is Status.TF_UNAVAILABLE


@pytest.mark.requirement("D-10")
@pytest.mark.parametrize("seed", range(60))
def test_every_pose_was_measured(seed: int) -> None:
    """The definition, applied to the list of all that arrived, against the tree.

    Arrivals are late, ahead, doubled, of two parents, static, not numbers; the clock runs, stops,
    and steps back.
    """
    rng = random.Random(seed)
    now, tree = NOW, TransformTree(NOW)
    wall = 0  # [ns] after the last step back, no stamp ahead of the clock counts
    arrived: list[tuple[str, int, float, bool]] = []  # since the last step back
    found = 0
    for _ in range(400):
        step = rng.choice([0, 1, SECOND // 10, SECOND // 3, SECOND, -1, -SECOND, -9 * SECOND])
        if step > 0 or rng.random() < 0.05:
            if step < 0:
                wall = min(now, now + step + MAX_LEAD)
                arrived = [each for each in arrived if each[3]]
                if arrived and not arrived[-1][3]:
                    arrived = []
            now += step
            tree.set_time(now)
        x, parent = rng.uniform(-5.0, 5.0), "odom" if rng.random() < 0.9 else "map"
        static = rng.random() < 0.01
        leads = [0, -1, -SECOND // 2, -4 * SECOND, SECOND, 2 * SECOND, 3 * SECOND]
        stamp, is_number = now + rng.choice(leads), rng.random() < 0.9
        placement = Placement((x if is_number else np.nan, 0.0, 0.0))
        why = tree.insert(parent, "base", stamp, placement, static=static)
        lead = stamp - now
        is_used = is_number and (
            not any(not each[3] for each in arrived)
            if static
            else not (lead > MAX_LEAD or (lead > 0 and now < wall))
        )
        newest = max((each[1] for each in arrived if not each[3]), default=0)
        if is_used and not static and stamp < newest - 10 * SECOND:
            is_used = False
        assert bool(why) != is_used
        if is_used:
            if static or (arrived and arrived[-1][3]):
                arrived = []
            arrived.append((parent, stamp, x, static))
        found += compare(tree, arrived, now + rng.choice([0, -1, SECOND // 4, -SECOND // 3]))
    assert found > 20


UNKNOWN_POSE = (Status.TF_EXTRAPOLATION, Status.TF_UNAVAILABLE, Status.UNKNOWN_FRAME)


def compare(tree: TransformTree, arrived: list[tuple[str, int, float, bool]], time: int) -> int:
    """Compare the pose at a time with its definition; return whether there is one."""
    if not arrived:
        return 0
    if arrived[-1][3]:
        if arrived[-1][0] == "odom":
            assert tree.lookup("odom", "base", time).x == arrived[-1][2]
        return 1
    newest = max(each[1] for each in arrived)
    # The last one of a stamp counts.
    at = {stamp: (at, x) for at, stamp, x, _ in arrived if stamp >= newest - 10 * SECOND}
    before = max((stamp for stamp in at if stamp <= time), default=None)
    after = min((stamp for stamp in at if stamp >= time), default=None)
    is_known = before is not None and after is not None and after - before <= MAX_GAP
    if not is_known or {at[before][0], at[after][0]} != {"odom"}:
        assert fails(tree, time) in UNKNOWN_POSE
        return 0
    wanted: Any = np.interp(
        time - before, [0, max(after - before, 1)], [at[before][1], at[after][1]]
    )
    assert tree.lookup("odom", "base", time).x == pytest.approx(float(wanted))
    return 1


@pytest.mark.parametrize("is_little", [True, False])
def test_serialized_message_is_decoded(is_little: bool) -> None:
    """The oracle is rosbags. A message that is cut off is refused."""
    stores = pytest.importorskip("rosbags.typesys", reason="rosbags is not installed")
    store = stores.get_typestore(stores.Stores.ROS2_JAZZY)
    made = {name.rpartition("/")[2]: kind for name, kind in store.types.items()}
    rng = random.Random(7)
    for count in range(6):
        transforms, expected = [], []
        for _ in range(count):
            parent, child = ("".join(rng.choices("abö/", k=rng.randrange(9))) for _ in range(2))
            seconds, rest = rng.randrange(-(2**31), 2**31), rng.randrange(2**32)
            p, q = ([rng.uniform(-9.0, 9.0) for _ in range(n)] for n in (3, 4))
            stamp = made["Time"](sec=seconds, nanosec=rest)
            header = made["Header"](stamp=stamp, frame_id=parent)
            pose = made["Transform"](
                translation=made["Vector3"](*p), rotation=made["Quaternion"](*q)
            )
            transforms.append(
                made["TransformStamped"](header=header, child_frame_id=child, transform=pose)
            )
            placement = Placement(tuple(p), tuple(q))
            expected.append((parent, child, seconds * 1_000_000_000 + rest, placement))
        message = store.types["tf2_msgs/msg/TFMessage"](transforms=transforms)
        data = bytes(store.serialize_cdr(message, message.__msgtype__, little_endian=is_little))
        assert decoded(data) == expected
        for size in range(len(data)):
            with pytest.raises((ValueError, struct.error)):
                decoded(data[:size])
    with pytest.raises(ValueError, match="not plain CDR"):
        decoded(b"\0\7" + data[2:])

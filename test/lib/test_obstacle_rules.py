# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A list that is refused where a message is received is refused by `Scene.from_arrays` alike."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gjk_collision import InputError, Scene, Status
from gjk_collision.server.data.obstacles import Obstacles

GOOD = Obstacles(
    frame="odom",
    stamp=0,
    ids=np.array([1, 2]),
    kinds=np.array([0, 1]),
    offsets=np.array([0, 3, 6]),
    xy=np.array([0.0, 0, 1, 0, 0, 1, 4, 0, 5, 0, 4, 1]),
    radius=np.array([0.1, 0.2]),
    poses=np.zeros(6),
    velocities=np.zeros(6),
    path_offsets=np.array([0, 2, 4]),
    path_times=np.array([0.0, 1.0, 0.0, 1.0]),
    path_poses=np.zeros(12),
    margins=np.array([0.5, 0.0]),
    margin_rates=np.array([0.0, 0.2]),
)
BAD: dict[str, dict[str, Any]] = {
    "offsets that decrease": {"offsets": [0, 4, 3]},
    "half a point": {"xy": np.zeros(11)},
    "a kind too few": {"kinds": [0]},
    "a kind below zero": {"kinds": [0, -1]},
    "a radius too many": {"radius": [0.0, 0.0, 0.0]},
    "a margin too few": {"margins": [0.0]},
    "a margin rate of nan": {"margin_rates": [np.nan, 0.0]},
    "a velocity too few": {"velocities": np.zeros(3)},
    "a yaw too large": {"poses": [0.0] * 5 + [2e6]},
    "paths without offsets": {"path_offsets": []},
    "a time that comes again": {"path_times": [0.0, 0.0, 0.0, 1.0]},
    "a path pose too far": {"path_poses": [0.0] * 9 + [2e15, 0.0, 0.0]},
}


def changed(fields: dict[str, Any]) -> Obstacles:
    kinds = {name: getattr(GOOD, name).dtype for name in fields}
    return replace(GOOD, **{name: np.array(v, kinds[name]) for name, v in fields.items()})


def made(data: Obstacles) -> Scene:
    return Scene.from_arrays(
        data.offsets,
        data.xy,
        ids=data.ids,
        kinds=data.kinds,
        radius=data.radius,
        poses=data.poses,
        velocities=data.velocities,
        path_offsets=data.path_offsets,
        path_times=data.path_times,
        path_poses=data.path_poses,
        margins=data.margins,
        margin_rates=data.margin_rates,
    )


def test_absolute_times_of_a_path_are_refused() -> None:
    """The obstacle would stand still until then."""
    with pytest.raises(InputError, match=r"path_times\[3\]: must be in s after header.stamp"):
        changed({"path_times": [0.0, 1.0, 0.0, 1.8e9]}).check(10, 10)


def test_a_good_list_passes_both() -> None:
    GOOD.check(10, 10)
    assert len(made(GOOD)) == 2


@pytest.mark.parametrize("need_ids", [True, False])
def test_limits_and_the_number_of_ids(need_ids: bool) -> None:
    GOOD.check(2, 3, need_ids=need_ids)
    for limits, rule in (((1, 3), "2 obstacles, limit 1"), ((2, 2), "3 points in this obstacle")):
        with pytest.raises(InputError, match=rule):
            GOOD.check(*limits, need_ids=need_ids)
    rule = "must hold one id" if need_ids else "must be empty or hold one id"
    with pytest.raises(InputError, match=f"^ids: {rule} for each of 2 obstacles"):
        replace(GOOD, ids=np.array([1])).check(2, 3, need_ids=need_ids)


@pytest.mark.parametrize("kind", [2, 3])
def test_shapes_of_a_pair_are_no_region(kind: int) -> None:
    """Only lists that need ids, those of senders, may have outlines of a region."""
    with pytest.raises(InputError, match=r"^kinds\[1\]: must be 0 \(convex\) or 1 \(concave\)"):
        replace(GOOD, kinds=np.array([0, kind], np.uint8)).check(2, 3, need_ids=False)


def test_the_first_id_that_comes_again_is_named() -> None:
    ids = np.tile(np.arange(50), 2)
    squares = np.tile([0.0, 0, 1, 0, 0, 1], 100)
    data = Obstacles("odom", 0, ids=ids, offsets=np.arange(0, 301, 3), xy=squares)
    with pytest.raises(InputError, match=r"^ids\[50\]: must be unique \(got 0 again\)"):
        data.check(100, 3)


@pytest.mark.parametrize("name", BAD)
def test_same_status_argument_and_words(name: str) -> None:
    """The message shows the value that was given."""
    data = changed(BAD[name])
    with pytest.raises(InputError) as received:
        data.check(10, 10)
    with pytest.raises(InputError) as built:
        made(data)
    one, other = received.value, built.value
    assert (one.status, str(one)) == (other.status, str(other))
    assert "(got " in one.rule or "empty, but" in one.rule


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("xy", GOOD.xy.reshape(-1, 2)),
        ("poses", GOOD.poses.reshape(-1, 3)),
        ("ids", np.array([[1], [2]])),
        ("ids", np.array([1.0, 2.0])),
        ("ids", np.array([1, 2], np.uint64)),
        ("ids", np.array([True, False])),
        ("ids", np.array(["a", "b"])),
    ],
)
def test_a_received_list_is_flat_and_its_ids_are_integers(name: str, values: Any) -> None:
    """`Obstacles.shape` and the merging of lists rely on it."""
    with pytest.raises(InputError, match=f"^{name}: must ") as caught:
        replace(GOOD, **{name: values}).check(10, 10)
    is_flat = values.ndim == 1
    assert caught.value.status is (Status.INVALID_INPUT if is_flat else Status.ARRAY_MISMATCH)

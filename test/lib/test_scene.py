# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Scene: what the fields of a result mean, and that a batch is nothing but its pairs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from traffic import traffic

from gjk_collision import Scene, Shape, collide, distance
from gjk_collision.verdict import Status, Verdict

CAR = Shape.box(4.0, 2.0)
HERE = np.zeros((1, 3))
MODES = ("collide", "distance", "witness")


def three() -> Scene:
    """Points 3 m, 8 m and 18 m ahead of the bumper of a car at the origin."""
    return Scene([Shape.point((x, 0.0)) for x in (10.0, 5.0, 20.0)], ids=[70, 50, 90])


def test_an_empty_scene_is_free() -> None:
    for scene in (Scene([]), Scene.from_arrays([], []), Scene.from_arrays([0], [])):
        assert len(scene) == 0
        assert scene.ids.shape == (0,) and scene.ids.dtype == np.int64
        result = scene.check(CAR, np.zeros((2, 3)), mode="witness", margin=5.0)
        assert result.is_free and result.verdict == Verdict.FREE
        assert list(result.verdicts) == [Verdict.FREE] * 2
        assert list(result.statuses) == [Status.SUCCESS] * 2
        assert list(result.distances) == list(result.lower_bounds) == [np.inf] * 2
        assert list(result.ids) == list(result.indices) == [-1] * 2
        assert result.witnesses is not None and np.isnan(result.witnesses).all()
        assert result.first_invalid_index == -1
        near = scene.nearest(CAR, (0.0, 0.0, 0.0), k=3)
        assert len(near.indices) == len(near.ids) == len(near.distances) == 0
        assert near.witness_shape.shape == near.directions.shape == (0, 2)


def test_shapes_and_types_of_a_result() -> None:
    result = three().check(CAR, np.zeros((4, 3)), mode="witness")
    kinds = {"verdicts": "u1", "statuses": "u2", "distances": "f8", "lower_bounds": "f8",
             "ids": "i8", "indices": "i8", "witnesses": "f8"}  # fmt: skip
    for name, dtype in kinds.items():
        array = getattr(result, name)
        assert array.dtype == np.dtype(dtype), name
        assert array.shape == ((4, 4) if name == "witnesses" else (4,)), name
    assert isinstance(result.is_free, bool) and isinstance(result.verdict, Verdict)
    assert type(result.first_invalid_index) is int
    assert three().check(CAR, HERE, mode="distance").witnesses is None


def test_ids_default_to_indices() -> None:
    assert list(Scene([CAR, CAR]).ids) == [0, 1]
    assert list(three().ids) == [70, 50, 90]
    with pytest.raises(ValueError, match="read-only"):
        three().ids[0] = 1


def test_the_margin() -> None:
    """The nearest point is exactly 3 m away: 0 < distance <= margin is MARGIN."""
    scene = three()
    below = np.nextafter(3.0, 0.0)
    limits = {0.0: Verdict.FREE, below: Verdict.FREE, 3.0: Verdict.MARGIN, 1e6: Verdict.MARGIN}
    for margin, verdict in limits.items():
        for mode in MODES:
            result = scene.check(CAR, HERE, margin=margin, mode=mode)
            assert result.verdict == result.verdicts[0] == verdict, (margin, mode)
            assert result.is_free == (verdict == Verdict.FREE)
            assert result.first_invalid_index == (-1 if result.is_free else 0)
            assert result.statuses[0] == Status.SUCCESS
    touching = scene.check(CAR, [(3.0, 0.0, 0.0)], margin=1.0, mode="distance")
    assert touching.verdict == Verdict.COLLISION
    assert touching.distances[0] <= 0.0


def test_the_nearest_decides() -> None:
    result = three().check(CAR, HERE, mode="witness")
    assert result.ids[0] == 50 and result.indices[0] == 1
    assert result.distances[0] == pytest.approx(3.0, rel=1e-12)
    assert result.witnesses is not None
    assert result.witnesses[0] == pytest.approx([2.0, 0.0, 5.0, 0.0])
    assert result.directions[0] == pytest.approx([1.0, 0.0])
    inside = three().check(CAR, [(4.0, 0.5, 0.0)], mode="witness")  # 0.5 m to move it downwards
    assert inside.distances[0] == pytest.approx(-0.5)
    assert inside.directions[0] == pytest.approx([0.0, -1.0])
    assert three().check(CAR, HERE, mode="distance").directions is None


@pytest.mark.requirement("V-6")
def test_the_worst_verdict_wins() -> None:
    poses = [(-100.0, 0.0, 0.0), (0.0, 0.0, 0.0), (5.0, 0.0, 0.0), (-100.0, 0.0, 0.0)]
    result = three().check(CAR, poses, margin=4.0)
    free, margin, hit = Verdict.FREE, Verdict.MARGIN, Verdict.COLLISION
    assert list(result.verdicts) == [free, margin, hit, free]
    assert result.verdict == Verdict.COLLISION and not result.is_free
    assert result.first_invalid_index == 1
    assert result.ids[2] == 50


def test_nearest_is_sorted_and_limited() -> None:
    scene = three()
    all_of_them = scene.nearest(CAR, (0.0, 0.0, 0.0), k=9)
    assert list(all_of_them.ids) == [50, 70, 90]
    assert list(all_of_them.indices) == [1, 0, 2]
    assert all_of_them.distances == pytest.approx([3.0, 8.0, 18.0])
    assert (all_of_them.lower_bounds <= all_of_them.distances).all()
    assert (all_of_them.statuses == Status.SUCCESS).all()
    assert all_of_them.directions == pytest.approx(np.array([[1.0, 0.0]] * 3))
    assert all_of_them.witness_shape == pytest.approx(np.array([[2.0, 0.0]] * 3))
    assert all_of_them.witness_obstacle[:, 0] == pytest.approx([5.0, 10.0, 20.0])
    assert list(scene.nearest(CAR, (0.0, 0.0, 0.0)).ids) == [50]
    assert list(scene.nearest(CAR, (0.0, 0.0, 0.0), k=3, max_distance=10.0).ids) == [50, 70]
    assert list(scene.nearest(CAR, (0.0, 0.0, 0.0), k=3, max_distance=3.0).ids) == [50]
    assert len(scene.nearest(CAR, (0.0, 0.0, 0.0), k=3, max_distance=1.0).ids) == 0


def test_arrays_hold_every_kind() -> None:
    outlines = [
        [(10.0, 0.0)],
        [(-10.0, -1.0), (-10.0, 1.0)],
        [(0.0, 9.0), (1.0, 12.0), (0.5, 10.0), (-1.0, 12.0)],
        [(-6.0, -9.0), (6.0, -9.0), (6.0, -4.0), (5.0, -8.0), (-5.0, -8.0), (-6.0, -4.0)],
    ]
    shapes = [
        Shape.circle(2.0, center=outlines[0][0]),
        Shape.capsule(*outlines[1], 1.0),
        Shape.hull(outlines[2]),
        Shape.concave(outlines[3]),
    ]
    xy = np.array([c for outline in outlines for p in outline for c in p])
    radius = [2.0, 1.0, 0.0, 0.0]
    offsets, kinds = np.array([0, 1, 3, 7, 13], np.uint32), np.array([0, 0, 0, 1], np.uint8)
    flat = Scene.from_arrays(offsets, xy, kinds=kinds, radius=radius, ids=[5, 6, 7, 8])
    lists = [0, 1, 3, 7, 13], xy.reshape(-1, 2)
    paired = Scene.from_arrays(*lists, kinds=[0, 0, 0, 1], radius=radius)
    near = flat.nearest(CAR, (0.0, 0.0, 0.0), k=4)
    truth = [distance(CAR, other) for other in shapes]
    assert near.distances == pytest.approx(sorted(truth), rel=1e-12)
    assert list(near.indices) == list(np.argsort(truth))
    assert list(near.ids) == [5 + i for i in near.indices]
    again = paired.nearest(CAR, (0.0, 0.0, 0.0), k=4)
    assert list(again.distances) == list(near.distances)


def test_concave_policies() -> None:
    """A car in the notch of a U: free of the outline, inside its hull."""
    notch = [(-6, -4), (6, -4), (6, 9), (4, 9), (4, -3), (-4, -3), (-4, 9), (-6, 9)]
    arguments = ([0, len(notch)], np.array(notch, dtype=float))
    keep = Scene.from_arrays(*arguments, kinds=[1])
    hull = Scene.from_arrays(*arguments, kinds=[1], concave_policy="hull")
    plain = Scene.from_arrays(*arguments)
    assert keep.check(CAR, HERE).verdict == Verdict.FREE
    assert keep.check(CAR, HERE, mode="distance").distances[0] == pytest.approx(2.0)
    assert hull.check(CAR, HERE).verdict == Verdict.COLLISION
    assert plain.check(CAR, HERE).verdict == Verdict.COLLISION
    assert not collide(CAR, Shape.concave(notch)) and collide(CAR, Shape.hull(notch))


def test_threads_share_a_scene() -> None:
    """The interpreter lock is released: many threads on one scene and shape answer alike."""
    area = traffic(2, 60)
    scene, where = Scene(area.shapes, area.poses), area.somewhere(200)
    alone = scene.check(CAR, where, mode="distance")
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda _: scene.check(CAR, where, mode="distance"), range(40))
        for result in results:
            assert np.array_equal(result.distances, alone.distances)
            assert np.array_equal(result.verdicts, alone.verdicts)


def test_a_scene_keeps_its_own_copy() -> None:
    xy, poses = np.array([[5.0, 0.0]]), np.array([[0.0, 0.0, 0.0]])
    scene = Scene.from_arrays([0, 1], xy, poses=poses)
    point = Shape.hull(xy)
    before = scene.check(CAR, HERE, mode="distance").distances[0]
    xy[:] = 0.0
    poses[:] = np.nan
    assert scene.check(CAR, HERE, mode="distance").distances[0] == before
    assert distance(CAR, point) == pytest.approx(before, rel=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        point.parts[0][0, 0] = 9.0


@pytest.mark.requirement("G-7")
def test_far_from_the_origin_nothing_is_lost() -> None:
    """UTM coordinates: the scene's own local frame keeps a nanometre."""
    far = np.array([6.6e5, 4.0e6, 0.0])
    scene = Scene([Shape.box(4.0, 2.0)] * 2, poses=[far + (4.0 + 1e-6, 0, 0), far + (0, 40, 0)])
    result = scene.check(CAR, [far, far + (2e-6, 0.0, 0.0)], mode="distance")
    assert list(result.verdicts) == [Verdict.FREE, Verdict.COLLISION]
    assert result.distances[0] == pytest.approx(1e-6, abs=2e-9)


def test_any_array_layout_will_do() -> None:
    poses = np.array([[5.0, 0.0, 0.0], [-50.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    expected = list(three().check(CAR, poses).verdicts)
    wide = np.zeros((6, 5))
    wide[::2, :3] = poses
    for same in (poses.tolist(), np.asfortranarray(poses), wide[::2, :3], poses.astype("f4")):
        assert list(three().check(CAR, same).verdicts) == expected


def test_outlines_half_as_far_as_they_are_wide_stay_exact() -> None:
    """A coordinate less than half as far as the local origin would be rounded about it."""
    for x in (300.1, -800.1):
        box = Shape.polygon([(x, 0), (x + 500.0, 0), (x + 500.0, 1), (x, 1)])
        beside = Shape.point((np.nextafter(x, -np.inf), 0.5))
        past = Shape.point((np.nextafter(x + 500.0, np.inf), 0.5))
        for point in (beside, past):
            assert not collide(box, point)
            for one, other in ((box, point), (point, box)):
                assert Scene([one]).check(other, [(0, 0, 0)]).verdict is Verdict.FREE


def test_an_update_keeps_what_it_is_not_given() -> None:
    ego = Shape.box(2.0, 2.0)
    scene = Scene([Shape.circle(1.0)] * 2, [(10, 0, 0), (0, 10, 0)])
    bigger = scene.updated([0], shapes=[Shape.circle(3.0)])
    moved = scene.updated([1], [(0, 5, 0)])
    assert list(scene.nearest(ego, (0, 0, 0), 2).distances) == pytest.approx([8, 8])
    assert list(bigger.nearest(ego, (0, 0, 0), 2).distances) == pytest.approx([6, 8])
    assert list(moved.nearest(ego, (0, 0, 0), 2).distances) == pytest.approx([3, 8])


def test_many_at_one_place() -> None:
    """No order halves these: the tree must still hold them all."""
    scene = Scene([Shape.circle(1.0)] * 300, np.zeros((300, 3)))
    near = scene.nearest(Shape.point((4.0, 0.0)), (0, 0, 0), k=300)
    assert list(near.indices) == list(range(300)), "of equal distances the first comes first"
    assert near.distances == pytest.approx(3.0)
    assert scene.check(Shape.point((0.5, 0.0)), np.zeros((1, 3))).verdict == Verdict.COLLISION


def test_far_limits() -> None:
    """Beyond 3e8 m the squares of distances exceed what a box may reach."""
    point = Shape.point((0.0, 0.0))
    found = Scene([point], [(5e8, 0, 0)]).nearest(point, (0, 0, 0), max_distance=1e9)
    assert found.distances == pytest.approx([5e8])
    scene = Scene([point] * 2, [(0, 999999999.3333333, 0), (1000000000.1428571, 0, 0)])
    verdicts = {scene.check(point, [(0, 0, 0)], margin=1e9, mode=mode).verdict for mode in MODES}
    assert verdicts == {Verdict.MARGIN}

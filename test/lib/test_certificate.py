# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A certificate proves that a pose is free, and one that has been changed proves nothing false.

GJK_CASES sets how many poses are tried. `./dev verify` asks the fast checker about outlines that
are built to break it.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from fractions import Fraction
from math import cos, sin

import numpy as np
import pytest
import shapely
from shapely import affinity

from gjk_collision import FreeCertificate, InputError, Region, Scene, Shape
from gjk_collision.certificate import checker

CASES = int(os.environ.get("GJK_CASES", "300"))
ELL = [(0.0, 0.0), (4.0, 0.0), (4.0, 1.0), (1.0, 1.0), (1.0, 4.0), (0.0, 4.0)]
SHAPES = [
    Shape.box(4.0, 2.0),
    Shape.circle(0.5, (0.2, 0.0)),
    Shape.concave(ELL),
    Shape.capsule((0.0, 0.0), (2.0, 1.0), 0.3),
    Shape.segment((-1.0, 0.0), (2.0, 0.5)),
]


def bounds_of(certificate: FreeCertificate) -> np.ndarray:
    """Return the bounds that the directions prove, in rational arithmetic; -inf: none."""
    own, *others = [
        [
            checker.Part(*each)
            for each in zip(map(np.ndarray.tolist, s.parts), s.radii, strict=True)
        ]
        for s in (certificate.shape, *certificate.obstacles)
    ]
    at, *places = [
        checker.Placement(pose.tolist())
        for pose in (certificate.pose, *certificate.obstacle_poses)
    ]
    bounds = np.full(len(certificate.pairs), -np.inf)
    for row, ((i, k, j), way) in enumerate(
        zip(certificate.pairs, certificate.directions, strict=True)
    ):
        if np.isfinite(way).all() and way.any():
            gap = checker.distance_along(way.tolist(), own[i], at, others[k][j], places[k])
            bounds[row] = checker.rounded_down(gap)
    return bounds


def has_proof(certificate: FreeCertificate) -> bool:
    """Return whether the directions prove it, whatever its bounds are."""
    return replace(certificate, bounds=bounds_of(certificate)).verify()


def solid(shape: Shape, pose: np.ndarray, fine: int = 256) -> shapely.Geometry:
    """Return shapely's form of a shape at a pose. Round parts are inside the true ones."""
    hulls = [shapely.MultiPoint(part).convex_hull for part in shape.parts]
    hulls = [
        each.buffer(radius, quad_segs=fine) if radius else each
        for each, radius in zip(hulls, shape.radii, strict=True)
    ]
    c, s = cos(pose[2]), sin(pose[2])
    return affinity.affine_transform(shapely.union_all(hulls), [c, -s, s, c, *pose[:2]])


def near_contact(scene: Scene, shape: Shape, pose: np.ndarray, gap: float) -> None:
    """Move the pose until its distance is about this [m]."""
    for _ in range(4):  # towards the obstacle, or out of it
        found = scene.check(shape, pose, mode="witness")
        ahead = np.diff(np.reshape(found.witnesses, (2, 2)), axis=0)[0]
        length = np.hypot(*ahead)
        if length > 0.0:
            pose[:2] += ahead * (np.sign(found.distances) - gap / length)


def cases(seed: int, count: int):
    """Yield scenes, shapes and poses whose distance is about a given gap [m]."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = rng.integers(1, 6)
        poses = np.c_[rng.uniform(-8.0, 8.0, (n, 2)), rng.uniform(-9.0, 9.0, n)]
        scene = Scene([SHAPES[i] for i in rng.integers(0, 5, n)], poses, ids=np.arange(n) + 10)
        shape = SHAPES[rng.integers(0, 5)]
        pose = np.array([*rng.uniform(-8.0, 8.0, 2), rng.choice([0.0, 1.0, -700.0, 2e5])])
        near_contact(scene, shape, pose, 10.0 ** rng.uniform(-12.0, 0.0))
        yield scene, shape, pose


@pytest.mark.requirement("V-24")
def test_a_free_pose_has_a_certificate_that_holds() -> None:
    proven = near = refused = 0
    for scene, shape, pose in cases(1, CASES):
        margin = 0.0 if proven % 2 else 1e-3
        found = scene.check(shape, pose, margin=margin, mode="distance")
        certificate = scene.certify(shape, pose, margin)
        if not found.is_free:
            assert certificate is None
            continue
        assert certificate is not None, (scene.poses, shape, pose)
        assert certificate.verify() and (certificate.required == margin).all()
        slack = (certificate.bounds - certificate.required[certificate.pairs[:, 1]]).min()
        if not certificate.verify(fast=True):
            assert slack < 3e-12 * 20.0  # m, more than the largest number that it converts
            refused += 1
        assert set(certificate.ids) == set(scene.ids)
        rounding = 1e-9 + 1e-15 * np.abs(pose).max()
        assert certificate.bounds.min() == pytest.approx(found.distances, abs=rounding)
        proven += 1
        near += certificate.bounds.min() < 1e-6
    assert proven > CASES / 3
    assert near > CASES / 20
    assert refused < near


@pytest.mark.requirement("V-24")
@pytest.mark.parametrize("spoil", ["direction", "bound", "row", "pose", "obstacle", "required"])
def test_a_spoilt_certificate_is_refused_unless_it_is_still_true(spoil) -> None:
    rng = np.random.default_rng(2)
    refused = fast = 0
    for scene, shape, pose in cases(3, CASES // 4):
        good = scene.certify(shape, pose)
        if good is None:
            continue
        row = rng.integers(len(good.bounds))
        directions, bounds, required = good.directions.copy(), good.bounds.copy(), good.required
        moved = pose
        pairs, ids, obstacles, poses = good.pairs, good.ids, good.obstacles, good.obstacle_poses
        if spoil == "direction":
            directions[row] = rng.choice([np.nan, 0.0, -1.0, 0.5]) * directions[row][::-1]
        elif spoil == "bound":
            bounds[row] += rng.choice([1e-9, 1.0, np.inf, np.nan])
        elif spoil == "row":
            keep = np.arange(len(bounds)) != row
            pairs, ids, directions, bounds = pairs[keep], ids[keep], directions[keep], bounds[keep]
        elif spoil == "pose":
            moved = pose + rng.normal(0.0, 3.0, 3)
        elif spoil == "obstacle":
            obstacles, poses = (*obstacles, shape), np.r_[poses, [pose]]
            required = np.append(required, 0.0)
        else:
            required = required + bounds[row]
        spoilt = replace(
            good, pose=moved, directions=directions, bounds=bounds, pairs=pairs, ids=ids,
            obstacles=obstacles, obstacle_poses=poses, required=required,
        )  # fmt: skip
        if spoilt.verify(fast=True):
            fast += 1
            assert has_proof(spoilt)
        if not spoilt.verify():
            refused += 1
            continue
        car = solid(shape, moved)
        placed = [solid(each, at) for each, at in zip(obstacles, poses, strict=True)]
        apart = np.array([car.distance(each) for each in placed])
        rounding = 1e-9 + 1e-15 * np.abs(pose).max()
        for k, distance in enumerate(apart):
            assert distance >= bounds[pairs[:, 1] == k].min() - rounding
        assert (apart >= required - rounding).all()
    assert refused > CASES / 40
    # The fast check ignores the bounds. Another pose may be free, too.
    assert bool(fast) == (spoil in {"direction", "bound", "pose"})


def test_the_bound_is_below_the_true_distance() -> None:
    """Turned by 0, rational arithmetic gives the distance of two points along any direction."""
    rng = np.random.default_rng(4)
    for _ in range(CASES):
        (a, b), direction = rng.normal(0.0, 5.0, (2, 2)), rng.normal(0.0, 1.0, 2)
        parts = [checker.Part([each.tolist()], 0.25) for each in (a, b)]
        at = checker.Placement((0.0, 0.0, 0.0))
        found = checker.distance_along(direction.tolist(), parts[0], at, parts[1], at)
        x, y = (Fraction(p) - Fraction(q) for p, q in zip(b, a, strict=True))
        u, v = map(Fraction, direction)
        gap = found + Fraction(1, 2)
        along = x * u + y * v
        assert (gap > 0) == (along > 0)
        assert gap * abs(gap) * (u * u + v * v) <= along * abs(along)
        assert float(gap) == pytest.approx(float(along) / np.hypot(*direction), abs=1e-12)


@pytest.mark.parametrize("yaw", [0.0, 1e-300, 0.5, -0.5, 3.14159, -3.2, 1e3, -1e9, 1e15])
def test_cosine_and_sine(yaw: float) -> None:
    at = checker.Placement((0.0, 0.0, yaw))
    c, s, error = at._cos, at._sin, at._error
    assert error < Fraction(1, 10**30)
    assert abs(c * c + s * s - 1) < 4 * error
    assert (float(c), float(s)) == pytest.approx((cos(yaw), sin(yaw)), abs=1e-15)
    half = checker.Placement((0.0, 0.0, yaw / 2.0))
    assert abs(half._cos**2 - half._sin**2 - c) < 8 * (error + half._error)
    assert abs(2 * half._sin * half._cos - s) < 8 * (error + half._error)


@pytest.mark.parametrize("fast", [False, True])
def test_a_pose_in_contact_is_not_proven_by_a_negative_distance(fast: bool) -> None:
    """The gap along any direction is negative there, and may exceed a negative distance."""
    scene, car = Scene([Shape.circle(1.0)], [(5.0, 0.0, 0.0)]), Shape.box(2.0, 2.0)
    good = scene.certify(car, (2.0, 0.0, 0.0))
    assert good is not None
    for depth in (0.0, 1e-9, 0.5, 1.5):
        pose = np.array([3.0 + depth, 0.0, 0.0])
        for wanted in (-2.0, -0.9, -1e-300, -0.0, np.nan, -np.inf):
            numbers = {"required": np.array([wanted]), "bounds": np.array([-depth - 1e-6])}
            forged = replace(good, pose=pose, **numbers)
            assert not forged.verify(fast=fast), (depth, wanted)


def test_margins_pickle_and_regions() -> None:
    scene = Scene([Shape.circle(1.0)], [(5.0, 0.0, 0.0)], margins=[0.5])
    car = Shape.box(2.0, 2.0)
    found = scene.certify(car, (2.0, 0.0, 0.0), 0.25)
    assert isinstance(found, FreeCertificate)
    assert pickle.loads(pickle.dumps(found)).verify()
    for wrong in (
        {"required": np.array([np.nan])},
        {"required": np.array([0.5, 0.5])},
        {"pose": np.array([2.0, 0.0])},
        {"pose": np.array([np.inf, 0.0, 0.0])},
        {"obstacle_poses": np.zeros((0, 3))},
        {"ids": np.array([1, 2])},
        {"pose": [2.0, 0.0, 0.0]},
        {"pose": None},
        {"shape": None},
        {"obstacles": [*found.obstacles]},
        {"obstacles": ("circle",)},
        {"obstacle_poses": found.obstacle_poses[0]},
        {"required": 0.75},
        {"required": np.array([0])},
        {"pairs": found.pairs + 0.5},
        {"pairs": found.pairs.tolist()},
        {"ids": None},
        {"directions": found.directions.astype(object)},
        {"directions": found.directions.T},
        {"bounds": None},
        {"bounds": 0.8},
        {"pairs": found.pairs + 1},
        {"pairs": found.pairs - 1},
        {"directions": found.directions * np.nan},
        {"directions": found.directions * np.inf},
        {"directions": found.directions * 0.0},
        {"obstacle_poses": found.obstacle_poses * np.inf},
        {"pose": np.array([1e300, 0.0, 0.0])},
        {"required": np.array([np.inf])},
    ):
        assert not replace(found, **wrong).verify(), wrong
        assert not replace(found, **wrong).verify(fast=True), wrong
    assert scene.certify(car, (2.3, 0.0, 0.0), 0.25) is None
    assert Scene([]).certify(car, (0.0, 0.0, 0.0)).verify()
    region = Scene([], inside=Region([[(-9, -9), (9, -9), (9, 9), (-9, 9)]]))
    with pytest.raises(InputError, match="inside: must be None for a certificate"):
        region.certify(car, (0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="pose"):
        scene.certify(car, (np.nan, 0.0, 0.0))
    with pytest.raises(InputError, match="shape"):
        scene.certify("car", (0.0, 0.0, 0.0))

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""`gjk::Hull`, points in any order, against integers: repeated, collinear, touching, of any scale.

A coordinate is an integer of a common unit, so hulls and squared distances are exact. GJK_CASES
sets how many pairs are tried.
"""

from __future__ import annotations

import ctypes
import math
import os
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from consumers import needs_cmake, run
from families import Point, edges, hull, meet, squared

ROOT = Path(__file__).parents[2]
CASES = int(os.environ.get("GJK_CASES", "1500"))
FREE, COLLISION = 1, 2

Real = tuple[float, float]

SOURCE = """
#include "gjk/query.hpp"
namespace {
gjk::Hull hull(const double* xy, int n, double radius) { return {xy, xy + n, n, radius}; }
}
extern "C" {
int hull_collide(const double* a, int m, double ra, const double* b, int n, double rb,
                 double margin) {
  return static_cast<int>(gjk::collide(hull(a, m, ra), hull(b, n, rb), margin));
}
void hull_distance(const double* a, int m, double ra, const double* b, int n, double rb,
                   double* out) {
  const gjk::Bounds found = gjk::distance(hull(a, m, ra), hull(b, n, rb));
  out[0] = found.lower;
  out[1] = found.upper;
}
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("hulls")
    (folder / "hulls.cpp").write_text(SOURCE)
    flags = ["-std=c++20", "-O2", "-ffp-contract=off", "-DGJK_FP_CONTRACT_OFF", "-shared", "-fPIC"]
    include = f"-I{ROOT}/src_cpp/include"
    built = run("c++", *flags, include, folder / "hulls.cpp", "-o", folder / "hulls.so")
    assert built.returncode == 0, built.stdout
    return ctypes.CDLL(str(folder / "hulls.so"))


def squared_distance(a: list[Point], b: list[Point]) -> Fraction:
    """Return the squared distance of two hulls; 0 if they have a point in common."""
    if meet(a, b):
        return Fraction(0)
    sides = [(p, e) for one, other in ((a, b), (b, a)) for e in edges(one) for p in other]
    return min(Fraction(*squared(p, *e)) for p, e in sides)


def points(rng: random.Random, count: int, size: float, centre: Real) -> list[Real]:
    """Return points of one of six kinds, in a random order, some of them repeated."""
    kind, line = rng.randrange(6), (rng.uniform(-1, 1), rng.uniform(-1, 1))
    found: list[Real] = []
    for i in range(count):
        x, y, turn = rng.uniform(-1, 1), rng.uniform(-1, 1), 2.0 * math.pi * i / count
        found.append(
            {
                0: (x, y),
                1: (math.cos(turn), math.sin(turn)),
                2: (float(round(2 * x)), float(round(2 * y))),
                3: (line[0] * x, line[1] * x),
                4: (x, y * 10 ** rng.uniform(-40, -1)),
                5: (float(round(3 * x)), 0.0),
            }[kind]
        )
    found = [(size * x + centre[0], size * y + centre[1]) for x, y in found]
    if rng.random() < 0.3:
        found = [(beside(rng, x), beside(rng, y)) for x, y in found]
    found += [rng.choice(found) for _ in range(rng.randrange(3))]
    if rng.random() < 0.7:
        rng.shuffle(found)
    return found


def beside(rng: random.Random, value: float) -> float:
    """Return a number or one of its neighbours."""
    return rng.choice([value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)])


def pair(rng: random.Random) -> tuple[list[Real], list[Real]]:
    """Return two sets of points; in half of the pairs they touch, up to rounding."""
    counts = (1, 2, 3, 4, 5, 6, 8, 9, 12, 15, 16, 17, 24, 33, 65)
    size = rng.choice([1.0, 1.0, 10.0 ** rng.uniform(-30, 12)])
    centre = (rng.uniform(-3, 3) * size, rng.uniform(-3, 3) * size)
    a = points(rng, rng.choice(counts), size, (0.0, 0.0))
    b = points(rng, rng.choice(counts[:-2]), size, centre)
    kind = rng.randrange(6)
    if kind == 0:  # a vertex on a vertex
        (x, y), (u, v) = rng.choice(a), rng.choice(b)
        b = [(beside(rng, s + (x - u)), beside(rng, t + (y - v))) for s, t in b]
    elif kind == 1:  # side by side
        by = max(x for x, _ in a) - min(x for x, _ in b)
        b = [(beside(rng, x + by), y) for x, y in b]
    elif kind == 2:  # a common point
        b.append(rng.choice(a))
    return a, b


@needs_cmake
def test_hulls_of_points_in_any_order(library: Any) -> None:
    """Otherwise a C++ user who starts from raw vertices gets a wrong verdict or bound."""
    rng = random.Random(29)
    verdicts = {FREE: 0, COLLISION: 0}
    for case in range(CASES):
        a, b = pair(rng)
        ra, rb, margin = (rng.choice([0.0, 0.0, rng.random() * abs(a[0][0])]) for _ in range(3))
        bits = max(v.as_integer_ratio()[1].bit_length() - 1 for p in a + b for v in p)
        unit = 1 << bits

        def whole(each: list[Real], unit: int = unit) -> list[Point]:
            return hull([(int(Fraction(x) * unit), int(Fraction(y) * unit)) for x, y in each])

        square = squared_distance(whole(a), whole(b)) / unit**2
        reach = Fraction(ra) + Fraction(rb)
        right = COLLISION if square <= (reach + Fraction(margin)) ** 2 else FREE

        arguments = []
        for each, radius in ((a, ra), (b, rb)):
            xy = [x for x, _ in each] + [y for _, y in each]
            arguments += [(ctypes.c_double * len(xy))(*xy), len(each), ctypes.c_double(radius)]
        where = f"case {case}: {a}, radius {ra}; {b}, radius {rb}; margin {margin}"
        said = library.hull_collide(*arguments, ctypes.c_double(margin))
        # Products of such numbers underflow: then COLLISION is allowed, FREE is not.
        is_tiny = any(0 < abs(v) < 1e-40 for p in a + b for v in p)
        assert said == right or (said == COLLISION and is_tiny), where
        bounds = (ctypes.c_double * 2)()
        library.hull_distance(*arguments, bounds)
        lower, upper = map(Fraction, bounds)
        assert 0 <= lower <= upper, where
        assert lower == 0 or (lower + reach) ** 2 <= square, where
        assert (upper + reach) ** 2 >= square, where
        verdicts[right] += 1
    assert min(verdicts.values()) > 0.15 * CASES

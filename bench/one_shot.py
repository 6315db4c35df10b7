# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of convex polygons from their vertices, from Python, beside shapely.

python one_shot.py [--quick] [--docs FILE] [--command TEXT]

The time includes the construction of both polygons. About half of the pairs collide. The answers
are compared while timing; if they differ by more than shapely's rounding, the program fails.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely
from report import machine, parser, publish, table
from scene_peers import mistakes

from gjk_collision import Shape, collide, collide_many, distance, distance_many

Floats = npt.NDArray[np.float64]
Answers = npt.NDArray[Any]

COUNTS = (4, 8, 24)  # vertices
PAIRS = 2048
CONTACT = 1e-9  # m: nearer than this, shapely's rounding may decide otherwise


def polygons(rng: np.random.Generator, n: int) -> Floats:
    """Return convex polygons (PAIRS, n, 2): points of ellipses of 1-5 x 1-3 m, anywhere in 6 m."""
    steps = rng.uniform(0.2, 1.0, (PAIRS, n))
    angles = 2.0 * np.pi * np.cumsum(steps, axis=1) / steps.sum(axis=1, keepdims=True)
    half = 0.5 * rng.uniform((1.0, 1.0), (5.0, 3.0), (PAIRS, 2))
    x, y = half[:, :1] * np.cos(angles), half[:, 1:] * np.sin(angles)
    yaw = rng.uniform(0.0, np.pi, (PAIRS, 1))
    turned = np.stack([x * np.cos(yaw) - y * np.sin(yaw), x * np.sin(yaw) + y * np.cos(yaw)], -1)
    return np.asarray(turned + rng.uniform(-3.0, 3.0, (PAIRS, 1, 2)))


def flat(vertices: Floats) -> tuple[Floats, Floats]:
    """Return polygons as flat arrays."""
    return vertices.shape[1] * np.arange(PAIRS + 1), vertices.ravel()


convex = Shape.polygon
Call = Callable[[Floats, Floats], Answers]
CALLS: dict[tuple[str, str], dict[str, Call]] = {
    ("a pair per call", "collide"): {
        "gjk": lambda a, b: np.array(
            [collide(convex(p), convex(q)) for p, q in zip(a, b, strict=True)]
        ),
        "shapely": lambda a, b: np.array(
            [shapely.intersects(shapely.polygons(p), shapely.polygons(q))
             for p, q in zip(a, b, strict=True)]
        ),
    },
    ("a pair per call", "distance"): {
        "gjk": lambda a, b: np.array(
            [distance(convex(p), convex(q)) for p, q in zip(a, b, strict=True)]
        ),
        "shapely": lambda a, b: np.array(
            [shapely.distance(shapely.polygons(p), shapely.polygons(q))
             for p, q in zip(a, b, strict=True)]
        ),
    },
    ("all pairs in a call", "collide"): {
        "gjk": lambda a, b: collide_many(*flat(a), *flat(b)),
        "shapely": lambda a, b: shapely.intersects(shapely.polygons(a), shapely.polygons(b)),
    },
    ("all pairs in a call", "distance"): {
        "gjk": lambda a, b: distance_many(*flat(a), *flat(b)),
        "shapely": lambda a, b: shapely.distance(shapely.polygons(a), shapely.polygons(b)),
    },
}  # fmt: skip
Times = dict[tuple[str, str, int, str], float]


def wrong_hits(hits: Answers, a: Floats, b: Floats) -> Answers:
    """Return the indices of the pairs with a wrong answer."""
    others = shapely.polygons(b)
    return mistakes(
        hits, shapely.polygons(a), lambda each, i: shapely.intersects(each, others[i]), CONTACT
    )


def measure(passes: int) -> Times:
    """Return the median time per pair [s], by the call, the question, n and the library."""
    spent: dict[tuple[str, str, int, str], list[float]] = {}
    for number in range(passes):
        rng = np.random.default_rng(number)
        for n in COUNTS:
            a, b = polygons(rng, n), polygons(rng, n)
            gaps = CALLS["all pairs in a call", "distance"]["shapely"](a, b)
            for (way, question), calls in CALLS.items():
                for name, call in calls.items():
                    start = time.process_time()
                    answers = call(a, b)
                    each = (time.process_time() - start) / PAIRS
                    spent.setdefault((way, question, n, name), []).append(each)
                    if question == "collide":
                        wrong = wrong_hits(answers, a, b)
                    else:  # NaN is wrong
                        is_near = np.abs(np.maximum(answers, 0.0) - gaps) <= CONTACT
                        wrong = np.flatnonzero(~is_near)
                    if len(wrong):
                        i = wrong[0]
                        sys.exit(f"{name}, {way}, {question}: {a[i].tolist()} and {b[i].tolist()}")
    return {key: statistics.median(each) for key, each in spent.items()}


def report(times: Times) -> str:
    lines = []
    for way, question in CALLS:
        for n in COUNTS:
            ours, theirs = (times[way, question, n, name] for name in ("gjk", "shapely"))
            label = f"{question}, {way}, n = {n}"
            us = [f"{1e6 * each:.2f}" for each in (ours, theirs)]
            lines.append([label, *us, f"{theirs / ours:.1f}"])
    return table(["microseconds per pair", "gjk", "shapely", "shapely / gjk"], lines)


def main() -> None:
    options = parser(__doc__).parse_args()
    passes = 3 if options.quick else 15
    text = (
        f"{machine()}; shapely {shapely.__version__}; {time.strftime('%Y-%m-%d')}; "
        f"`{options.command}`. Processor time, medians of {passes} passes of {PAIRS} pairs.\n\n"
        f"{report(measure(passes))}"
    )
    publish({"one shot": text}, options.docs)


if __name__ == "__main__":
    main()

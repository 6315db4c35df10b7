# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of convex polygons from their vertices, from Python, beside shapely.

python one_shot.py [--quick] [--docs FILE] [--command TEXT]

The time includes the construction of both polygons. About half of the pairs collide. The answers
are compared while timing; if they differ by more than shapely's rounding, the program fails.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import shapely
from page import Times, circumstances, parser, publish, table
from scene_peers import Answers, Floats, mistakes, placed

from gjk_collision import Shape, collide, collide_many, distance, distance_many

COUNTS = (4, 8, 24)  # vertices
PAIRS = 2048
CONTACT = 1e-9  # m: nearer than this, shapely's rounding may decide otherwise


def polygons(rng: np.random.Generator, n: int) -> Floats:
    """Return convex polygons (PAIRS, n, 2): points of ellipses of 1-5 x 1-3 m, anywhere in 6 m."""
    steps = rng.uniform(0.2, 1.0, (PAIRS, n))
    angles = 2.0 * np.pi * np.cumsum(steps, axis=1) / steps.sum(axis=1, keepdims=True)
    half = 0.5 * rng.uniform((1.0, 1.0), (5.0, 3.0), (PAIRS, 1, 2))
    poses = rng.uniform((-3.0, -3.0, 0.0), (3.0, 3.0, np.pi), (PAIRS, 3))
    return placed(half * np.stack([np.cos(angles), np.sin(angles)], axis=-1), poses)


def flat(vertices: Floats) -> tuple[Floats, Floats]:
    """Return polygons as flat arrays."""
    return vertices.shape[1] * np.arange(PAIRS + 1), vertices.ravel()


Call = Callable[[Floats, Floats], Answers]


def pair_by_pair(question: Callable[[Any, Any], Any], polygon: Callable[[Floats], Any]) -> Call:
    return lambda a, b: np.array(
        [question(polygon(p), polygon(q)) for p, q in zip(a, b, strict=True)]
    )


def of_all(question: Callable[[Answers, Answers], Answers]) -> Call:
    return lambda a, b: question(shapely.polygons(a), shapely.polygons(b))


CALLS: dict[tuple[str, str], dict[str, Call]] = {
    ("a pair per call", "collide"): {
        "gjk": pair_by_pair(collide, Shape.polygon),
        "shapely": pair_by_pair(shapely.intersects, shapely.polygons),
    },
    ("a pair per call", "distance"): {
        "gjk": pair_by_pair(distance, Shape.polygon),
        "shapely": pair_by_pair(shapely.distance, shapely.polygons),
    },
    ("all pairs in a call", "collide"): {
        "gjk": lambda a, b: collide_many(*flat(a), *flat(b)),
        "shapely": of_all(shapely.intersects),
    },
    ("all pairs in a call", "distance"): {
        "gjk": lambda a, b: distance_many(*flat(a), *flat(b)),
        "shapely": of_all(shapely.distance),
    },
}


def wrong_hits(hits: Answers, a: Floats, b: Floats) -> Answers:
    """Return the indices of the pairs with a wrong answer."""
    others = shapely.polygons(b)
    return mistakes(
        hits, shapely.polygons(a), lambda each, i: shapely.intersects(each, others[i]), CONTACT
    )


def measure(passes: int) -> dict[tuple[str, str, int, str], float]:
    """Return the median time per pair [s], by the call, the question, n and the library."""
    times = Times()
    for number in range(passes):
        rng = np.random.default_rng(number)
        for n in COUNTS:
            a, b = polygons(rng, n), polygons(rng, n)
            gaps = CALLS["all pairs in a call", "distance"]["shapely"](a, b)
            for (way, question), calls in CALLS.items():
                for name, call in calls.items():
                    key = way, question, n, name
                    answers = times.time(key, call, a, b, per=PAIRS, clock=time.process_time)
                    if question == "collide":
                        wrong = wrong_hits(answers, a, b)
                    else:  # NaN is wrong
                        is_near = np.abs(np.maximum(answers, 0.0) - gaps) <= CONTACT
                        wrong = np.flatnonzero(~is_near)
                    if len(wrong):
                        i = wrong[0]
                        sys.exit(f"{name}, {way}, {question}: {a[i].tolist()} and {b[i].tolist()}")
    return times.medians()


def main() -> None:
    options = parser(__doc__).parse_args()
    passes = 3 if options.quick else 15
    times = measure(passes)
    lines = []
    for way, question in CALLS:
        for n in COUNTS:
            ours, theirs = (times[way, question, n, name] for name in ("gjk", "shapely"))
            us = [f"{1e6 * each:.2f}" for each in (ours, theirs)]
            lines.append([f"{question}, {way}, n = {n}", *us, f"{theirs / ours:.1f}"])
    facts = circumstances(
        f"shapely {shapely.__version__}; `{options.command}`. Processor time, medians of {passes} "
        f"passes of {PAIRS} pairs."
    )
    rows = table(["microseconds per pair", "gjk", "shapely", "shapely / gjk"], lines)
    publish({"one shot": f"{facts}\n\n{rows}"}, options.docs)


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How the verdict on the vehicle and one obstacle at a time of a bag was decided, as text."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..geometry import closest, collide
from ..replay.bag import Bag
from ..replay.case import Case
from ..replay.drive import Drive
from ..replay.pair import MomentError, Pair, pair_of
from ..replay.rows import Row
from ..replay.topics import choose
from ..server.data.snapshot import Snapshot
from ..server.parameters.config import Config
from ..tracing import deciding_step
from ..verdict import Verdict

__all__ = ["Moment", "decision", "moment"]

# s. Reports print times in milliseconds.
TOLERANCE = 5e-4

# What each step of the cascade has proven, by the verdict: docs/kernel.md.
_PROVEN = {
    Verdict.FREE: {
        "turned boxes": "the bounding boxes, turned to the poses, are farther apart than required",
        "boxes": "the bounding boxes are farther apart than required",
        "axes": "an edge separates the polygons",
        "GJK": "all points of a - b are beyond a line",
        "exact": "the exact sign of a polynomial shows a gap",
    },
    Verdict.COLLISION: {
        "overlap": "polygons inside of the shapes overlap",
        "extremes": "the four outermost vertices of a - b enclose the origin",
        "axes": "no edge separates the polygons",
        "GJK": "points of a - b enclose the origin, or are within the radii and the margin",
        "exact": "exact arithmetic shows no gap, or no gap larger than the rounding errors",
    },
}


@dataclass(frozen=True)
class Moment:
    """A stamp with its number (from 0), its time after the begin of the bag [s], and a pair.

    The parameters are those in force at this stamp.
    """

    stamp: int
    time: float
    row: Row
    obstacle_id: int
    pair: Pair
    config: Config


def moment(case: Case, seconds: float, obstacle_id: int | None = None) -> Moment:
    """Return the vehicle and an obstacle at the last stamp at or before a time.

    Its answer holds at that time. If no stamp is before the time, this is the first stamp.

    Parameters
    ----------
    case : Case
        The bag, with parameters, topics and faults.
    seconds : float
        Time after the begin of the bag [s], to the millisecond.
    obstacle_id : int
        Id of the obstacle; None: the nearest obstacle.

    Raises
    ------
    MomentError
        There is no such stamp or obstacle, or the vehicle is not known at the stamp.
    BagError
        The bag cannot be replayed up to the stamp.
    """
    last: tuple[int, Row, Snapshot] | None = None
    with Bag(case.bag) as bag:
        topics, live = choose(bag, case.config, case.topics), case.live_parameters
        drive = Drive(bag, case.config, topics, case.faults, live_parameters=live)
        end = bag.seconds
        for stamp, row in enumerate(row for row in drive.rows() if row.is_state):
            time = (row.time - bag.begin) * 1e-9
            if last is not None and time > seconds + TOLERANCE:
                end = time
                break
            last, end = (stamp, row, drive.snapshot), max(end, time)  # a fault can delay messages
        if not 0.0 <= seconds <= end + TOLERANCE:
            rule = f"the time must be between 0 and the end of the bag, {end:.6f} s"
            raise MomentError(f"{bag.path.name}: {rule} (got {seconds:g} s)")
        if last is None:
            raise MomentError(f"{bag.path.name}: the bag has no stamp")
        stamp, row, snapshot = last
        named = (row.nearest_id, row.nearest_source) if obstacle_id is None else (obstacle_id, "")
        time, pair = (row.time - bag.begin) * 1e-9, pair_of(snapshot, row, *named)
        return Moment(stamp, time, row, named[0], pair, snapshot.config)


def decision(pair: Pair) -> list[tuple[str, str]]:
    """Return the decision on the vehicle (a) and the obstacle (b): names and texts."""
    a, pose_a, b, pose_b, margin = pair
    nearest, hit = closest(a, b, pose_a, pose_b), collide(a, b, pose_a, pose_b)
    parts = nearest.feature_a[0], nearest.feature_b[0]
    steps = [deciding_step(a, b, pose_a, pose_b, parts, reach) for reach in (margin, 0.0)]
    (verdict, _, certain), _ = steps
    is_certain = nearest.lower_bound > certain
    name = "COLLISION" if hit else "FREE" if is_certain or verdict is Verdict.FREE else "MARGIN"
    which = "deepest" if nearest.distance < 0.0 else "closest"
    facts = [
        ("verdict on this pair", name),
        ("required margin", f"{_digits(margin)} m"),
        ("decided by", _steps(steps, name, margin)),
        ("distance", f"{_digits(nearest.distance)} m"),
        ("certified lower bound", f"{_digits(nearest.lower_bound)} m"),
        ("direction from a to b", f"({_digits(*nearest.direction)})"),
        (f"{which} point of a", f"({_digits(*nearest.point_a)}) m"),
        (f"{which} point of b", f"({_digits(*nearest.point_b)}) m"),
    ]
    for letter, shape, pose in (("a", a, pose_a), ("b", b, pose_b)):
        text = f"({_digits(*pose)}) m, m, rad; radius {_digits(shape.radius)} m"
        facts.append((f"pose of {letter}", text))
    return facts


def _steps(steps: Sequence[tuple[Verdict, str, float]], name: str, margin: float) -> str:
    """Return which step decides with the margin, and which one without it if that is needed."""
    (with_margin, step, _), (without, bare_step, _) = steps
    if name == "COLLISION" and without is Verdict.FREE:
        return f"another pair of parts. For the nearest parts, {_step(without, bare_step)}"
    if name == "FREE" or margin == 0.0:
        return _step(with_margin, step)
    required = f"with the margin, {_step(with_margin, step)}"
    return f"{required}. Without the margin, {_step(without, bare_step)}"


def _step(verdict: Verdict, step: str) -> str:
    return f"step '{step}': {_PROVEN[verdict][step]}"


def _digits(*values: float) -> str:
    return ", ".join(f"{value + 0.0:.9g}" for value in values)  # never -0

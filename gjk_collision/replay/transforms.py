# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded transforms: a tree of frames, computed from the messages on /tf and /tf_static.

The rules are those of tf2. A transform is interpolated between two stamps and never extrapolated.
Transforms are kept for ten seconds. A static transform is valid at every time.
"""

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from math import acos, isfinite, isnan, nan, sin, sqrt
from typing import NamedTuple

from ..errors import InputError
from ..server.frames import Arrival, Arrivals, FrameError, Pose, planar
from ..verdict import Status

__all__ = ["Placement", "RecordedTransforms"]

KEPT = 10_000_000_000  # ns
MAX_DEPTH = 1000

Quaternion = tuple[float, float, float, float]  # x y z w
Vector = tuple[float, float, float]


class Placement(NamedTuple):
    """The pose of a frame in its parent, in space."""

    position: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)

    def of(self, inner: "Placement") -> "Placement":
        """Transform a placement from this frame to its parent."""
        x, y, z = _rotate(self.rotation, inner.position)
        px, py, pz = self.position
        return Placement((px + x, py + y, pz + z), _product(self.rotation, inner.rotation))

    def inverse(self) -> "Placement":
        """Return the placement of the parent in this frame."""
        x, y, z, w = self.rotation
        back = (-x, -y, -z, w)
        px, py, pz = self.position
        return Placement(_rotate(back, (-px, -py, -pz)), back)


@dataclass(slots=True)
class _Edge:
    """The parent of a frame, with the placements of the frame in it."""

    parent: str
    static: bool
    stamps: deque[int] = field(default_factory=deque)
    placements: deque[Placement] = field(default_factory=deque)


class RecordedTransforms:
    """The transform tree of the messages that were inserted so far."""

    def __init__(self) -> None:
        self._edges: dict[str, _Edge] = {}
        self._frames: set[str] = set()
        self._now = 0
        self._arrivals = Arrivals(0)
        self._restarts = 0
        self._left_out: dict[str, tuple[int, str]] = {}  # reason -> count, first child frame

    def insert(
        self, parent: str, child: str, stamp: int, placement: Placement, *, static: bool
    ) -> None:
        """Store one transform. If the node would not use it, count it instead, see `notes`.

        Parameters
        ----------
        parent, child : str
            Names of the frames.
        stamp : int
            Stamp of the transform [ns].
        placement : Placement
            The child in the parent.
        static : bool
            Whether the transform is valid at every time.
        """
        parent, child = parent.lstrip("/"), child.lstrip("/")
        why = "" if static else self._judge(child, stamp)
        why = why or self._insert(parent, child, stamp, placement, static)
        if why:
            count, first = self._left_out.get(why, (0, child))
            self._left_out[why] = count + 1, first

    def notes(self) -> list[str]:
        """Return notes about transforms that were not used, with the reasons."""
        notes = [
            f"{count} transforms were not used: {why} (the first child frame is '{first}')"
            for why, (count, first) in self._left_out.items()
        ]
        if self._restarts:
            text = "times all earlier transforms were deleted: one was stamped ahead after a gap"
            notes.append(f"{self._restarts} {text}")
        return notes

    def _judge(self, child: str, stamp: int) -> str:
        """Return why a moving transform must not be used; empty: it can be used."""
        if stamp == 0:
            return "the stamp on /tf is 0"  # tf2 would treat it as static
        arrival = self._arrivals.take(child, stamp, self._now)
        if arrival is Arrival.LEAVE_OUT:
            return "the stamp is too far ahead of the clock"
        if arrival is Arrival.RESTART:
            self._restarts += 1
            self._clear()
        return ""

    def _insert(
        self, parent: str, child: str, stamp: int, placement: Placement, static: bool
    ) -> str:
        """Store one transform by the rules of tf2; return why it is refused; empty: it is stored.

        tf2 scales every quaternion to unit length before it checks the length. A transform with
        an infinite position is stored, and its pose is NaN.
        """
        if not parent or not child or parent == child:
            return "parent and child must be two different frames"
        x, y, z, w = placement.rotation
        squared = x * x + y * y + z * z + w * w
        # If the squared length is almost 0, its inverse overflows, and tf2 computes NaN.
        if not isfinite(squared) or not squared or not isfinite(2.0 / squared):
            return "the quaternion is not a rotation"
        if any(map(isnan, placement.position)):
            return "the position is not a number"
        position = (
            placement.position if all(map(isfinite, placement.position)) else (nan, nan, nan)
        )
        if squared != 1.0:
            length = sqrt(squared)
            x, y, z, w = x / length, y / length, z / length, w / length
        placement = Placement(position, (x, y, z, w))
        edge = self._edges.get(child)
        if edge is None or edge.parent != parent or edge.static or static:
            edge = self._edges[child] = _Edge(parent, static)
        self._frames |= {parent, child}
        if edge.stamps and stamp < edge.stamps[-1] - KEPT:
            return "more than 10 s older than the newest one"
        at = bisect_left(edge.stamps, stamp)
        if at < len(edge.stamps) and edge.stamps[at] == stamp:
            edge.placements[at] = placement
        else:
            edge.stamps.insert(at, stamp)
            edge.placements.insert(at, placement)
        while edge.stamps[-1] - edge.stamps[0] > KEPT:
            edge.stamps.popleft()
            edge.placements.popleft()
        return ""

    def set_time(self, now: int) -> None:
        """Set the present time [ns]. If the clock goes back, delete all moving transforms.

        They may also be deleted when the clock starts, see `Arrivals.is_new_time`.
        """
        if self._arrivals.is_new_time(now):
            self._clear()
        self._now = now

    def _clear(self) -> None:
        """Delete all transforms except the static ones."""
        self._edges = {child: edge for child, edge in self._edges.items() if edge.static}

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`."""
        if stamp == 0:  # the node refuses it too, because 0 means "newest" in tf2
            text = f"the pose of '{source}' was requested for the stamp 0, which is not a time"
            raise FrameError(Status.TF_EXTRAPOLATION, text)
        up, down = self._chains(target, source)
        return self._pose(target, source, up, down, stamp)

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        up, down = self._chains(target, source)
        newest = [e.stamps[-1] for e in map(self._edges.__getitem__, up + down) if not e.static]
        stamp = min(newest, default=0)
        return self._pose(target, source, up, down, stamp), stamp

    def _chains(self, target: str, source: str) -> tuple[list[str], list[str]]:
        """Return the frames from `source`, and from `target`, up to the common ancestor."""
        for frame in (target, source):
            if frame not in self._frames:
                text = f"the frame '{frame}' is not in the transform tree"
                raise FrameError(Status.UNKNOWN_FRAME, text)
        sources, targets = self._ancestors(source), self._ancestors(target)
        common = next((frame for frame in sources if frame in targets), None)
        if common is None:
            text = f"'{source}' and '{target}' are in different transform trees"
            raise FrameError(Status.TF_UNAVAILABLE, text)
        return sources[: sources.index(common)], targets[: targets.index(common)]

    def _ancestors(self, frame: str) -> list[str]:
        found = [frame]
        while (edge := self._edges.get(found[-1])) is not None and len(found) < MAX_DEPTH:
            found.append(edge.parent)
        return found

    def _pose(self, target: str, source: str, up: list[str], down: list[str], stamp: int) -> Pose:
        whole = Placement()
        for frame in up:
            whole = self._at(frame, stamp).of(whole)
        back = Placement()
        for frame in down:
            back = self._at(frame, stamp).of(back)
        whole = back.inverse().of(whole) if down else whole
        try:
            x, y, _ = whole.position
            return planar(x, y, whole.rotation, f"'{source}' in '{target}'")
        except InputError as error:
            raise FrameError(Status.TF_UNAVAILABLE, str(error)) from error

    def _at(self, frame: str, stamp: int) -> Placement:
        edge = self._edges[frame]
        if edge.static:
            return edge.placements[-1]
        at = bisect_left(edge.stamps, stamp)
        if at < len(edge.stamps) and edge.stamps[at] == stamp:
            return edge.placements[at]
        if at == 0 or at == len(edge.stamps):
            beyond = edge.stamps[0] - stamp if at == 0 else stamp - edge.stamps[-1]
            side = "before the oldest" if at == 0 else "after the newest"
            text = f"the requested time is {beyond * 1e-9:.3f} s {side} transform"
            text = f"'{frame}' in '{edge.parent}': {text}"
            raise FrameError(Status.TF_EXTRAPOLATION, text)
        before, after = edge.stamps[at - 1], edge.stamps[at]
        share = (stamp - before) / (after - before)
        return _between(edge.placements[at - 1], edge.placements[at], share)


def _between(a: Placement, b: Placement, share: float) -> Placement:
    """Interpolate positions linearly, and rotations along the shorter arc (slerp)."""
    x, y, z = (p + share * (q - p) for p, q in zip(a.position, b.position, strict=True))
    dot = sum(p * q for p, q in zip(a.rotation, b.rotation, strict=True))
    sign = -1.0 if dot < 0.0 else 1.0
    angle = acos(min(abs(dot), 1.0))
    if angle < 1e-6:
        one, two = 1.0 - share, sign * share
    else:
        one, two = sin((1.0 - share) * angle) / sin(angle), sign * sin(share * angle) / sin(angle)
    mixed = [one * p + two * q for p, q in zip(a.rotation, b.rotation, strict=True)]
    norm = sqrt(sum(each * each for each in mixed))
    qx, qy, qz, qw = (each / norm for each in mixed)
    return Placement((x, y, z), (qx, qy, qz, qw))


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _rotate(q: Quaternion, v: Vector) -> Vector:
    x, y, z, w = q
    tx, ty, tz = (
        2.0 * (y * v[2] - z * v[1]),
        2.0 * (z * v[0] - x * v[2]),
        2.0 * (x * v[1] - y * v[0]),
    )
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )

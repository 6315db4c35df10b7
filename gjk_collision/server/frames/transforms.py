# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The transform tree: the frames that /tf and /tf_static describe, and their poses over time.

The node and replay both use it, so that they find the same poses. It behaves like tf2: it
interpolates between two stamps, does not extrapolate, stores ten seconds, and uses a static
transform at every time. It differs in cases in which tf2 would return a pose that was never
measured:

- It does not interpolate between two stamps that differ by more than `MAX_GAP`, or between poses
  in different parents.
- The stamp of a moving transform may be ahead of the clock by at most `MAX_LEAD`.
- After a step back of the clock, moving transforms from before the step are not used.
- A static transform does not replace a moving one, because static transforms never become old.
"""

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from math import acos, isfinite, isnan, nan, sin, sqrt
from struct import Struct
from typing import Any, NamedTuple

from ...errors import InputError
from ...verdict import Status
from .fields import nanoseconds
from .poses import FrameError, Pose, planar

__all__ = ["MAX_GAP", "MAX_LEAD", "Placement", "TransformTree", "decoded", "insert_message"]

# Transforms older than the newest one of the same frame by more than this are dropped [ns].
KEPT = 10_000_000_000
# Maximum time by which a stamp may be ahead of the clock [ns]. Localisers stamp a correction ahead
# of the clock, by the time for which it is valid.
MAX_LEAD = 2_000_000_000
# Maximum difference of two stamps between which poses are interpolated [ns].
MAX_GAP = 2_000_000_000

Quaternion = tuple[float, float, float, float]  # x y z w
Vector = tuple[float, float, float]


class Placement(NamedTuple):
    """Pose of a frame in its parent frame, in space [m, quaternion]."""

    position: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)

    def of(self, inner: "Placement") -> "Placement":
        """Transform a placement from this frame to the parent frame."""
        x, y, z = _rotate(self.rotation, inner.position)
        px, py, pz = self.position
        return Placement((px + x, py + y, pz + z), _product(self.rotation, inner.rotation))

    def inverse(self) -> "Placement":
        """Return the pose of the parent frame in this frame."""
        x, y, z, w = self.rotation
        back = (-x, -y, -z, w)
        px, py, pz = self.position
        return Placement(_rotate(back, (-px, -py, -pz)), back)


@dataclass(slots=True)
class _Edge:
    """The parent of a frame, and the poses of the frame in it, sorted by stamp."""

    parent: str
    static: bool
    known_until: int = 0  # newest stamp of the frame in the parents before [ns]
    stamps: deque[int] = field(default_factory=deque)
    placements: deque[Placement] = field(default_factory=deque)

    @property
    def newest(self) -> int:
        """Newest stamp at which the frame had a pose, in this parent or in one before [ns]."""
        return max(self.stamps[-1], self.known_until)


class TransformTree:
    """Frames and their poses over time.

    Parameters
    ----------
    now : int
        Present time [ns]; 0: the clock has not started.

    Attributes
    ----------
    corrections : int
        Number of static transforms that were replaced by a different one, or by a moving one.
        Poses computed before the last correction are out of date.
    late : int
        Number of moving transforms that came after a newer one of their frame, or in place of
        another one.
    steps_back : int
        Number of times that the clock was set to an earlier time.
    """

    def __init__(self, now: int = 0) -> None:
        self._edges: dict[str, _Edge] = {}
        self._frames: set[str] = set()
        self._now = now
        self._none_ahead_until = 0  # until this time [ns], stamps ahead of the clock are refused
        self.corrections = self.late = self.steps_back = 0

    def set_time(self, now: int) -> bool:
        """Set the clock [ns]; return whether all moving transforms were dropped.

        They are dropped when the clock starts and when it steps back. Transforms from before the
        step may still arrive after it. Their stamps are ahead of the new time. Therefore no
        transform with a stamp ahead of the clock is used until the clock has reached its time
        before the step, or has advanced by `MAX_LEAD`.
        """
        before, self._now = self._now, now
        if now < before:
            self.steps_back += 1
            self._none_ahead_until = min(before, now + MAX_LEAD)
        elif before or not now:
            return False
        self._edges = {child: edge for child, edge in self._edges.items() if edge.static}
        return True

    def insert(
        self, parent: str, child: str, stamp: int, placement: Placement, *, static: bool
    ) -> str:
        """Insert the pose of a child frame in its parent frame.

        Parameters
        ----------
        parent, child : str
            Names of the frames. Leading slashes are ignored.
        stamp : int
            Time of the pose [ns]; ignored for a static transform.
        placement : Placement
            The pose. The quaternion is scaled to unit length.
        static : bool
            Whether the pose is valid at every time.

        Returns
        -------
        str
            Why the transform is not used; empty if it is used.
        """
        parent, child = parent.lstrip("/"), child.lstrip("/")
        edge = self._edges.get(child)
        why = self._refusal(edge, stamp, static)
        if why:
            return why
        if not parent or not child or parent == child:
            return "its parent and child must be two different frames"
        scaled = _scaled(placement)
        if isinstance(scaled, str):
            return scaled
        if edge is not None and edge.static:
            is_same = static and (edge.parent, edge.placements[0]) == (parent, scaled)
            self.corrections += not is_same
        elif edge is not None:
            self.late += _changes_past(edge, parent, stamp, scaled)
        if edge is None or edge.static:
            edge = self._edges[child] = _Edge(parent, static)
        elif edge.parent != parent:
            edge = self._edges[child] = _Edge(parent, static, edge.newest)
        self._frames |= {parent, child}
        return _insert_sorted(edge, stamp, scaled)

    def _refusal(self, edge: _Edge | None, stamp: int, static: bool) -> str:
        """Return why the stamp or the kind of a transform does not allow its use."""
        if static:
            if edge is not None and not edge.static:
                return "it is static, but its frame is also published on /tf"
            return ""
        if stamp <= 0:
            return "its stamp on /tf is not positive"  # tf2 would treat the stamp 0 as static
        lead = stamp - self._now if self._now else 0
        if lead > MAX_LEAD:
            return f"its stamp is more than {MAX_LEAD * 1e-9:g} s ahead of the clock"
        if lead > 0 and self._now < self._none_ahead_until:
            return "its stamp is ahead of the clock, which has just stepped back"
        return ""

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`."""
        if stamp <= 0:
            text = f"the pose of '{source}' in '{target}' was requested at the time {stamp} ns"
            raise FrameError(Status.TF_EXTRAPOLATION, text)
        up, down = self._chains(target, source)
        return self._pose(target, source, up, down, stamp)

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        up, down = self._chains(target, source)
        newest = [e.stamps[-1] for e in map(self._edges.__getitem__, up + down) if not e.static]
        stamp = min(newest, default=0)
        return self._pose(target, source, up, down, stamp), stamp

    def oldest(self, target: str, source: str) -> str:
        """Return the moving frame between both whose newest pose is the oldest; empty: none."""
        up, down = self._chains(target, source)
        moving = (frame for frame in up + down if not self._edges[frame].static)
        return min(moving, key=lambda frame: self._edges[frame].stamps[-1], default="")

    def _chains(self, target: str, source: str) -> tuple[list[str], list[str]]:
        """Return the frames below the common ancestor, from the source and from the target."""
        for frame in (target, source):
            if frame not in self._frames:
                text = f"no transform from '{source}' to '{target}': "
                text += f"the frame '{frame}' does not exist"
                if frame.startswith("/"):
                    text += ": remove the slash at its begin, as in tf2"
                raise FrameError(Status.UNKNOWN_FRAME, text)
        sources, targets = self._ancestors(source), self._ancestors(target)
        common = next((frame for frame in sources if frame in targets), None)
        if common is None:
            text = f"no transform from '{source}' to '{target}': they are not connected"
            raise FrameError(Status.TF_UNAVAILABLE, text)
        return sources[: sources.index(common)], targets[: targets.index(common)]

    def _ancestors(self, frame: str) -> list[str]:
        ancestors = [frame]
        while (edge := self._edges.get(ancestors[-1])) is not None:
            if edge.parent in ancestors:
                text = f"the frames form a loop: '{edge.parent}' is its own ancestor"
                text += f", through '{ancestors[-1]}'"
                raise FrameError(Status.TF_UNAVAILABLE, text)
            ancestors.append(edge.parent)
        return ancestors

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
        """Return the pose of a frame in its parent at a time [ns]; raises `FrameError`."""
        edge = self._edges[frame]
        if edge.static:
            return edge.placements[0]
        stamps = edge.stamps
        index = bisect_left(stamps, stamp)
        if index < len(stamps) and stamps[index] == stamp:
            return edge.placements[index]
        if index == 0:
            text = f"{(stamps[0] - stamp) * 1e-9:.3f} s before the oldest transform"
        elif index == len(stamps):
            text = f"{(stamp - stamps[-1]) * 1e-9:.3f} s after the newest transform"
        elif stamps[index] - stamps[index - 1] > MAX_GAP:
            text = f"inside a gap of {(stamps[index] - stamps[index - 1]) * 1e-9:.3f} s"
        else:
            share = (stamp - stamps[index - 1]) / (stamps[index] - stamps[index - 1])
            return _between(edge.placements[index - 1], edge.placements[index], share)
        text = f"the pose of '{frame}' in '{edge.parent}' is not known: the time is {text}"
        raise FrameError(Status.TF_EXTRAPOLATION, text)


def insert_message(tree: TransformTree, message: Any, *, static: bool) -> str:
    """Insert an object with the fields of TransformStamped, as `TransformTree.insert` does."""
    p, q = message.transform.translation, message.transform.rotation
    return tree.insert(
        message.header.frame_id,
        message.child_frame_id,
        nanoseconds(message.header.stamp),
        Placement((p.x, p.y, p.z), (q.x, q.y, q.z, q.w)),
        static=static,
    )


def decoded(data: bytes) -> list[tuple[str, str, int, Placement]]:
    """Return the transforms of a serialized tf2_msgs/TFMessage.

    rclpy makes six objects for each transform, which takes ten times as long.

    Parameters
    ----------
    data : bytes
        The message in CDR, with the header of its representation.

    Returns
    -------
    list of (str, str, int, Placement)
        The first arguments of `TransformTree.insert` for each transform.

    Raises
    ------
    ValueError, struct.error
        It is not such a message.
    """
    if data[:2] not in _FORMATS:
        raise ValueError(f"not plain CDR: it begins with {data[:2]!r}")
    length, stamp, pose = _FORMATS[data[:2]]
    (count,), at = length.unpack_from(data, 4), 8
    transforms = []
    for _ in range(count):
        seconds, nanoseconds_ = stamp.unpack_from(data, at)
        names = []
        at += stamp.size
        for _ in range(2):
            at += -at % 4
            (size,) = length.unpack_from(data, at)  # with the zero at the end
            at += length.size
            names.append(data[at : at + size].rstrip(b"\0").decode())
            at += size
        at += -(at - 4) % 8  # the header does not count
        x, y, z, *rotation = pose.unpack_from(data, at)
        at += pose.size
        placement = Placement((x, y, z), tuple(rotation))
        transforms.append((names[0], names[1], seconds * 1_000_000_000 + nanoseconds_, placement))
    return transforms


# Header of the representation -> length of a list or text; stamp; position and quaternion.
_FORMATS = {
    header: (Struct(f"{order}I"), Struct(f"{order}iI"), Struct(f"{order}7d"))
    for header, order in ((b"\0\0", ">"), (b"\0\1", "<"))
}


def _scaled(placement: Placement) -> Placement | str:
    """Return a placement with a unit quaternion, or why it is not a pose.

    tf2 also scales quaternions and accepts infinite positions. Here, an infinite position is
    stored as NaN, so that each pose that is interpolated from it is invalid.
    """
    x, y, z, w = placement.rotation
    squared = x * x + y * y + z * z + w * w
    # tf2 divides by the squared length. If the quotient overflows, its result is NaN.
    if not isfinite(squared) or not squared or not isfinite(2.0 / squared):
        return "its quaternion is not a rotation"
    if any(map(isnan, placement.position)):
        return "its position is not a number"
    position = placement.position if all(map(isfinite, placement.position)) else (nan, nan, nan)
    if squared != 1.0:
        length = sqrt(squared)
        x, y, z, w = x / length, y / length, z / length, w / length
    return Placement(position, (x, y, z, w))


def _changes_past(edge: _Edge, parent: str, stamp: int, placement: Placement) -> bool:
    """Return whether poses at stamps up to the newest one of a frame may change by a new one."""
    newest = edge.stamps[-1]
    if stamp > newest:
        return newest < edge.known_until
    at = bisect_left(edge.stamps, stamp)
    known = edge.parent, edge.stamps[at], edge.placements[at]
    return known != (parent, stamp, placement)


def _insert_sorted(edge: _Edge, stamp: int, placement: Placement) -> str:
    """Insert a pose by its stamp and drop old ones; return why it was not inserted."""
    stamps, placements = edge.stamps, edge.placements
    if stamps and stamp < stamps[-1] - KEPT:
        return f"it is more than {KEPT * 1e-9:g} s older than the newest one of its frame"
    at = bisect_left(stamps, stamp)
    if at < len(stamps) and stamps[at] == stamp:
        placements[at] = placement
    else:
        stamps.insert(at, stamp)
        placements.insert(at, placement)
    while stamps[-1] - stamps[0] > KEPT:
        stamps.popleft()
        placements.popleft()
    return ""


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

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The transform tree: the frames that /tf and /tf_static describe, and their poses over time.

The node and replay both use it, so that they find the same poses. It behaves like tf2: it
interpolates between two stamps, does not extrapolate, stores ten seconds, and uses a static
transform at every time. It differs in cases in which tf2 would return a pose that was never
measured:

- It does not interpolate between two stamps that differ by more than `MAX_GAP`, or between poses
  in different parents. As in tf2, each pose has its own parent: a frame that gets another one
  keeps its earlier poses.
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
from ..parameters.names import did_you_mean
from .fields import nanoseconds
from .poses import DroppedError, FlippedError, FrameError, Pose, planar, upside_down

__all__ = ["MAX_GAP", "MAX_LEAD", "Placement", "TransformTree", "decoded", "insert_message"]

# Transforms older than the newest one of the same frame by more than this are dropped [ns].
KEPT = 10_000_000_000
# Maximum time by which a stamp may be ahead of the clock [ns]. Localisers stamp a correction ahead
# of the clock, by the time for which it is valid.
MAX_LEAD = 2_000_000_000
# Maximum difference of two stamps between which poses are interpolated [ns].
MAX_GAP = 2_000_000_000
NEWEST = 2**63  # a time [ns] after all stamps

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
class _Track:
    """The poses of a frame, each in its parent, sorted by stamp; a static frame has one."""

    static: bool
    has_dropped: bool = False  # old poses
    stamps: deque[int] = field(default_factory=deque)
    poses: deque[tuple[str, Placement]] = field(default_factory=deque)

    def around(self, stamp: int) -> tuple[int, int]:
        """Return the indices of the last pose up to a time [ns], and of the first one from it.

        Before the first pose and after the last one, both are its index.
        """
        last = len(self.stamps) - 1
        after = min(bisect_left(self.stamps, stamp), last)
        is_between = after > 0 and self.stamps[after - 1] < stamp < self.stamps[after]
        return after - is_between, after

    def parent(self, stamp: int) -> str:
        """Return the parent at a time [ns]."""
        return self.poses[self.around(stamp)[1]][0]


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
        another one, and of first transforms of frames that were parents before.
    steps_back : int
        Number of times that the clock was set to an earlier time.
    """

    def __init__(self, now: int = 0) -> None:
        self._tracks: dict[str, _Track] = {}
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
        self._tracks = {child: each for child, each in self._tracks.items() if each.static}
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
        track = self._tracks.get(child)
        why = self._refusal(track, stamp, static)
        if why:
            return why
        if not parent or not child or parent == child:
            return "its parent and child must be two different frames"
        scaled = _scaled(placement)
        if isinstance(scaled, str):
            return scaled
        pose = parent, scaled
        if track is None or track.static:
            # A frame that has children, but no pose, may get a parent that is one of them.
            self.late += track is None and child in self._frames
            self.corrections += track is not None and not (static and track.poses[0] == pose)
            track = self._tracks[child] = _Track(static)
        else:
            self.late += _changes_past(track, stamp, pose)
        self._frames |= {parent, child}
        return _insert_sorted(track, stamp, pose)

    def _refusal(self, track: _Track | None, stamp: int, static: bool) -> str:
        """Return why the stamp or the kind of a transform does not allow its use."""
        if static:
            if track is not None and not track.static:
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
        up, down = self._chains(target, source, stamp)
        return self._pose(target, source, up, down, stamp)

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        up, down = self._chains(target, source, NEWEST)
        stamp = min(map(self._newest, self._moving(up + down)), default=0)
        if stamp:
            up, down = self._chains(target, source, stamp)
        return self._pose(target, source, up, down, stamp), stamp

    def oldest(self, target: str, source: str) -> str:
        """Return the moving frame between both whose newest pose is the oldest; empty: none."""
        up, down = self._chains(target, source, NEWEST)
        return min(self._moving(up + down), key=self._newest, default="")

    def _newest(self, frame: str) -> int:
        return self._tracks[frame].stamps[-1]

    def _moving(self, frames: list[str]) -> list[str]:
        return [frame for frame in frames if not self._tracks[frame].static]

    def _chains(self, target: str, source: str, stamp: int) -> tuple[list[str], list[str]]:
        """Return the frames below the common ancestor, from the source and from the target.

        Before its first pose and after its last one, a frame has the parent of this pose here.
        `_at` refuses these times.
        """
        for frame in (target, source):
            if frame not in self._frames:
                text = f"no transform from '{source}' to '{target}': "
                text += f"the frame '{frame}' does not exist"
                if frame.startswith("/"):
                    text += ": remove the slash at its begin, as in tf2"
                else:
                    text += did_you_mean(frame, self._frames)
                raise FrameError(Status.UNKNOWN_FRAME, text)
        sources, targets = (self._ancestors(each, stamp) for each in (source, target))
        common = next((frame for frame in sources if frame in targets), None)
        if common is None:
            ends = f"'{source}' ends at '{sources[-1]}', '{target}' at '{targets[-1]}'"
            text = f"no transform from '{source}' to '{target}': they are not connected ({ends})"
            raise FrameError(Status.TF_UNAVAILABLE, text)
        return sources[: sources.index(common)], targets[: targets.index(common)]

    def _ancestors(self, frame: str, stamp: int) -> list[str]:
        ancestors = [frame]
        while (track := self._tracks.get(ancestors[-1])) is not None:
            parent = track.parent(stamp)
            if parent in ancestors:
                text = f"the frames form a loop: '{parent}' is its own ancestor"
                text += f", through '{ancestors[-1]}'"
                raise FrameError(Status.TF_UNAVAILABLE, text)
            ancestors.append(parent)
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
            if (pose := upside_down(x, y, whole.rotation)) is not None:
                raise FlippedError(str(error), pose, stamp) from error
            raise FrameError(Status.TF_UNAVAILABLE, str(error)) from error

    def _at(self, frame: str, stamp: int) -> Placement:
        """Return the pose of a frame in its parent at a time [ns]; raises `FrameError`."""
        track = self._tracks[frame]
        if track.static:
            return track.poses[0][1]
        i, k = track.around(stamp)
        (parent, before), (next_parent, after) = track.poses[i], track.poses[k]
        begin, end = track.stamps[i], track.stamps[k]
        if begin == stamp == end:
            return before
        if stamp < begin:
            text = f"{(begin - stamp) * 1e-9:.3f} s before the oldest transform"
        elif stamp > end:
            text = f"{(stamp - end) * 1e-9:.3f} s after the newest transform"
        elif parent != next_parent:
            text = f"'{frame}' went from '{parent}' to '{next_parent}' at an unknown time"
            raise FrameError(Status.TF_UNAVAILABLE, text)
        elif end - begin > MAX_GAP:
            text = f"inside a gap of {(end - begin) * 1e-9:.3f} s"
        else:
            return _between(before, after, (stamp - begin) / (end - begin))
        text = f"the pose of '{frame}' in '{parent}' is not known: the time is {text}"
        is_dropped = stamp < begin and track.has_dropped
        raise (DroppedError if is_dropped else FrameError)(Status.TF_EXTRAPOLATION, text)


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


def _changes_past(track: _Track, stamp: int, pose: tuple[str, Placement]) -> bool:
    """Return whether poses at stamps up to the newest one of a frame may change by a new one."""
    at = bisect_left(track.stamps, stamp)
    is_new = at == len(track.stamps)
    return not is_new and (track.stamps[at], track.poses[at]) != (stamp, pose)


def _insert_sorted(track: _Track, stamp: int, pose: tuple[str, Placement]) -> str:
    """Insert a pose by its stamp and drop old ones; return why it was not inserted."""
    stamps, poses = track.stamps, track.poses
    if stamps and stamp < stamps[-1] - KEPT:
        return f"it is more than {KEPT * 1e-9:g} s older than the newest one of its frame"
    at = bisect_left(stamps, stamp)
    if at < len(stamps) and stamps[at] == stamp:
        poses[at] = pose
    else:
        stamps.insert(at, stamp)
        poses.insert(at, pose)
    while stamps[-1] - stamps[0] > KEPT:
        stamps.popleft()
        poses.popleft()
        track.has_dropped = True
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

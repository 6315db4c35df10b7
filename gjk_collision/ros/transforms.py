# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames from tf2, where tf2_ros is installed."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.time import Time

from ..errors import InputError
from ..server.fields import nanoseconds
from ..server.frames import Arrival, Arrivals, FrameError, Pose, SameFrameOnly, Transforms, planar
from ..verdict import Status

__all__ = ["TransformTree", "find_transforms"]


# Messages that a queue holds, as in tf2_ros.
DEPTH = 100


class TransformTree:
    """The transform tree that /tf and /tf_static describe.

    A lookup first takes in all messages that have arrived. It never waits: what is not known now
    is a `FrameError` now.

    Parameters
    ----------
    node : Node
        Receives the messages. No thread is started: a thread that outlives the interpreter aborts
        the process.
    changed : callable
        Is called after transforms have been taken in.
    """

    def __init__(self, node: Node, changed: Callable[[], None] = lambda: None) -> None:
        import tf2_ros
        from tf2_msgs.msg import TFMessage

        self._tf2: Any = tf2_ros
        self._kind = TFMessage
        self._changed = changed
        self._node = node
        self._buffer = tf2_ros.Buffer()
        self._clock = node.get_clock()
        self._arrivals = Arrivals(self._now())
        self._moving = self._subscribe("/tf", DurabilityPolicy.VOLATILE)
        self._static = self._subscribe("/tf_static", DurabilityPolicy.TRANSIENT_LOCAL)

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`."""
        if stamp <= 0:  # 0 means the newest to tf2, and a negative one is an error
            text = f"no pose of '{source}' is stamped {stamp} ns"
            raise FrameError(Status.TF_EXTRAPOLATION, text)
        return self._find(target, source, stamp)[0]

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        return self._find(target, source, 0)

    def __str__(self) -> str:
        """Say where the transforms come from, for a person."""
        return "tf2"

    def close(self) -> None:
        """Unsubscribe."""
        for each in (self._moving, self._static):
            self._node.destroy_subscription(each)

    def _subscribe(self, topic: str, durability: DurabilityPolicy) -> Subscription:
        def receive(data: bytes) -> None:
            self._watch_clock()
            self._take(data, static=topic == "/tf_static")
            self._take_all()
            self._changed()

        # Raw: a message that cannot be decoded must not end a callback or a lookup.
        qos = QoSProfile(depth=DEPTH, durability=durability)
        return self._node.create_subscription(self._kind, topic, receive, qos, raw=True)

    def _now(self) -> int:
        now: int = self._clock.now().nanoseconds
        return now

    def _watch_clock(self) -> None:
        """Forget all moving transforms where the clock went back, also those in the queues.

        rcl reports a step back of simulated time only, and tf2 does not look at the node's clock.
        """
        if self._arrivals.is_new_time(self._now()):
            while self._moving.handle.take_message(self._kind, True) is not None:
                pass
            self._buffer.clear()

    def _take_all(self) -> bool:
        """Take in all messages that wait in the queues; return whether there were any.

        The executor takes one message of each topic between two requests. Under load the rest
        would grow old in the queue.
        """
        count = 0
        for each in (self._moving, self._static):
            for _ in range(DEPTH):
                found = each.handle.take_message(self._kind, True)
                if found is None:
                    break
                self._take(found[0], static=each is self._static)
                count += 1
        return count > 0

    def _take(self, data: bytes, *, static: bool) -> None:
        try:
            for each in deserialize_message(data, self._kind).transforms:
                if static:
                    self._buffer.set_transform_static(each, "")
                else:
                    self._take_moving(each)
        except Exception as error:
            text = f"transforms not understood: {error!r}"
            self._node.get_logger().error(text, throttle_duration_sec=1.0)

    def _take_moving(self, transform: Any) -> None:
        stamp, now = nanoseconds(transform.header.stamp), self._now()
        child = transform.child_frame_id.lstrip("/")
        why = "stamped 0" if not stamp else ""  # tf2 would take it as static
        arrival = self._arrivals.take(child, stamp, now) if stamp else Arrival.LEAVE_OUT
        if arrival is Arrival.LEAVE_OUT:
            why = why or f"stamped {(stamp - now) * 1e-9:.3f} s ahead of the clock"
            text = f"transform of '{child}' on /tf left out: {why}"
            self._node.get_logger().warning(text, throttle_duration_sec=1.0)
            return
        if arrival is Arrival.RESTART:
            self._buffer.clear()
            text = f"transforms begin anew: '{child}' was silent, and is stamped ahead"
            self._node.get_logger().warning(text, throttle_duration_sec=1.0)
        self._buffer.set_transform(transform, "")

    def _find(self, target: str, source: str, stamp: int) -> tuple[Pose, int]:
        tf2 = self._tf2
        self._watch_clock()
        if self._take_all():
            self._changed()
        try:
            found = self._buffer.lookup_transform(target, source, Time(nanoseconds=stamp))
        except tf2.ExtrapolationException as error:
            raise FrameError(Status.TF_EXTRAPOLATION, _why(target, source, error)) from error
        except (tf2.LookupException, tf2.InvalidArgumentException) as error:
            raise FrameError(Status.UNKNOWN_FRAME, _why(target, source, error)) from error
        except tf2.TransformException as error:
            raise FrameError(Status.TF_UNAVAILABLE, _why(target, source, error)) from error
        p, q = found.transform.translation, found.transform.rotation
        try:
            pose = planar(p.x, p.y, (q.x, q.y, q.z, q.w), f"'{source}' in '{target}'")
        except InputError as error:
            raise FrameError(Status.TF_UNAVAILABLE, str(error)) from error
        return pose, nanoseconds(found.header.stamp)


def find_transforms(node: Node, changed: Callable[[], None]) -> Transforms:
    """Return the transform tree where tf2_ros is installed, else what knows no second frame."""
    try:
        return TransformTree(node, changed)
    except ImportError as error:
        node.get_logger().warning(
            f"no transforms ({error}): only data in the check frame is accepted, "
            "and footprints in the base frame"
        )
        return SameFrameOnly("tf2_ros is not installed")


def _why(target: str, source: str, error: Exception) -> str:
    """Return why a lookup failed; the error of tf2 alone names one of the two frames."""
    return f"no transform from '{source}' to '{target}': {error}"

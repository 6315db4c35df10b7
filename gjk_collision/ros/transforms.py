# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Transforms from tf2, if tf2_ros is installed."""

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


# Queue depth of the subscriptions, as in tf2_ros.
DEPTH = 100


class TransformTree:
    """The transform tree of the topics /tf and /tf_static.

    A lookup first reads all messages that have arrived. It never waits: if a pose is not known, it
    raises `FrameError` at once.

    Parameters
    ----------
    node : Node
        The node that subscribes to the topics. No thread is started, because a thread that is
        still running when the interpreter ends aborts the process.
    changed : callable
        Called after new transforms were read.
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
        if stamp <= 0:  # in tf2, 0 means the newest transform, and a negative stamp is an error
            text = f"the pose of '{source}' was requested for the stamp {stamp} ns, must be > 0"
            raise FrameError(Status.TF_EXTRAPOLATION, text)
        return self._find(target, source, stamp)[0]

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        return self._find(target, source, 0)

    def __str__(self) -> str:
        """Return the name of this source of transforms, for the log."""
        return "tf2"

    def close(self) -> None:
        """Remove the subscriptions."""
        for each in (self._moving, self._static):
            self._node.destroy_subscription(each)

    def _subscribe(self, topic: str, durability: DurabilityPolicy) -> Subscription:
        def receive(data: bytes) -> None:
            self._watch_clock()
            self._take(data, static=topic == "/tf_static")
            self._take_all()
            self._changed()

        # Subscribe to raw messages, so that an invalid message raises no error in the executor.
        qos = QoSProfile(depth=DEPTH, durability=durability)
        return self._node.create_subscription(self._kind, topic, receive, qos, raw=True)

    def _now(self) -> int:
        now: int = self._clock.now().nanoseconds
        return now

    def _watch_clock(self) -> None:
        """If the clock went back, delete all moving transforms, including those in the queues.

        rcl reports a step back of simulated time only, and tf2 does not use the node's clock.
        """
        if self._arrivals.is_new_time(self._now()):
            while self._moving.handle.take_message(self._kind, True) is not None:
                pass
            self._buffer.clear()

    def _take_all(self) -> bool:
        """Read all messages in the queues; return whether there were any.

        The executor reads only one message of each topic between two requests. Under load, the
        other messages would wait in the queues.
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
            text = f"a message with transforms cannot be decoded: {error!r}"
            self._node.get_logger().error(text, throttle_duration_sec=1.0)

    def _take_moving(self, transform: Any) -> None:
        stamp, now = nanoseconds(transform.header.stamp), self._now()
        child = transform.child_frame_id.lstrip("/")
        why = "its stamp is 0" if not stamp else ""  # tf2 would treat it as static
        arrival = self._arrivals.take(child, stamp, now) if stamp else Arrival.LEAVE_OUT
        if arrival is Arrival.LEAVE_OUT:
            why = why or f"its stamp is {(stamp - now) * 1e-9:.3f} s ahead of the clock"
            text = f"the transform of '{child}' on /tf is not used: {why}"
            self._node.get_logger().warning(text, throttle_duration_sec=1.0)
            return
        if arrival is Arrival.RESTART:
            self._buffer.clear()
            text = "all earlier moving transforms are deleted: the transform of"
            text = f"{text} '{child}' is stamped ahead of the clock after a gap"
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
    """Return a `TransformTree` if tf2_ros is installed, otherwise a `SameFrameOnly`."""
    try:
        return TransformTree(node, changed)
    except ImportError as error:
        node.get_logger().warning(
            f"no transforms ({error}): obstacles are only accepted in check_frame, "
            "and footprints only in base_frame"
        )
        return SameFrameOnly("tf2_ros is not installed")


def _why(target: str, source: str, error: Exception) -> str:
    """Return why a lookup failed, with both frames. The message of tf2 names only one of them."""
    return f"no transform from '{source}' to '{target}': {error}"

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The transform tree of the topics /tf and /tf_static."""

from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

from ..server.frames import Pose, SameFrameOnly, TransformSource
from ..server.transforms import TransformTree, insert_message

__all__ = ["ReceivedTransforms", "find_transforms"]

# Length of the queue of a subscription, as in tf2_ros.
DEPTH = 100


class ReceivedTransforms:
    """The transforms that a node receives.

    A lookup first reads all messages that have arrived. It does not wait: if a pose is not known,
    it raises `FrameError` at once.

    Parameters
    ----------
    node : Node
        Receives the messages. There is no thread, because a thread that is still running when the
        interpreter ends aborts the process.
    changed : callable
        Called after new transforms were inserted.
    """

    def __init__(self, node: Node, changed: Callable[[], None] = lambda: None) -> None:
        from tf2_msgs.msg import TFMessage

        self._kind = TFMessage
        self._changed = changed
        self._node = node
        self._clock = node.get_clock()
        self._tree = TransformTree(self._now())
        self._moving = self._subscribe("/tf", DurabilityPolicy.VOLATILE)
        self._static = self._subscribe("/tf_static", DurabilityPolicy.TRANSIENT_LOCAL)

    @property
    def corrections(self) -> int:
        """Number of static transforms that were replaced by a different one."""
        return self._tree.corrections

    @property
    def late(self) -> int:
        """Number of moving transforms that came after a newer one, or in place of another one."""
        return self._tree.late

    @property
    def steps_back(self) -> int:
        """Number of times that the clock was set to an earlier time."""
        return self._tree.steps_back

    def lookup(self, target: str, source: str, stamp: int) -> Pose:
        """Return the pose of `source` in `target` at `stamp` [ns]; raises `FrameError`."""
        self.set_time(self._now())
        return self._tree.lookup(target, source, stamp)

    def latest(self, target: str, source: str) -> tuple[Pose, int]:
        """Return the newest known pose and its stamp [ns]; raises `FrameError`."""
        self.set_time(self._now())
        return self._tree.latest(target, source)

    def __str__(self) -> str:
        """Describe this source of transforms in a log line."""
        return "the topics /tf and /tf_static"

    def close(self) -> None:
        """Remove the subscriptions."""
        for each in (self._moving, self._static):
            self._node.destroy_subscription(each)

    def set_time(self, now: int) -> None:
        """Set the clock [ns], and insert the transforms that have arrived."""
        self._start_time(now)
        if self._insert_queued():
            self._changed()

    def _subscribe(self, topic: str, durability: DurabilityPolicy) -> Subscription:
        is_static = topic == "/tf_static"

        def receive(data: bytes) -> None:
            # If the clock went back, this message and those in the queue are from before the step.
            if not self._start_time(self._now()) or is_static:
                self._insert(data, static=is_static)
            self._insert_queued()
            self._changed()

        # Subscribe to raw messages, so that an invalid message raises no error in the executor.
        qos = QoSProfile(depth=DEPTH, durability=durability)
        return self._node.create_subscription(self._kind, topic, receive, qos, raw=True)

    def _now(self) -> int:
        now: int = self._clock.now().nanoseconds
        return now

    def _start_time(self, now: int) -> bool:
        """Set the clock of the tree; if it dropped its moving transforms, drop the queued ones.

        rcl reports a step back of simulated time only, not one of the system clock.
        """
        is_new = self._tree.set_time(now)
        if is_new:
            while self._moving.handle.take_message(self._kind, True) is not None:
                pass
        return is_new

    def _insert_queued(self) -> bool:
        """Insert all messages that are in the queues; return whether there were any.

        The executor takes one message of each topic between two requests. Under load the others
        would become old in the queue.
        """
        count = 0
        for each in (self._moving, self._static):
            for _ in range(DEPTH):
                found = each.handle.take_message(self._kind, True)
                if found is None:
                    break
                self._insert(found[0], static=each is self._static)
                count += 1
        return count > 0

    def _insert(self, data: bytes, *, static: bool) -> None:
        try:
            transforms = deserialize_message(data, self._kind).transforms
        except Exception as error:
            text = f"a message with transforms cannot be decoded: {error!r}"
            self._node.get_logger().error(text, throttle_duration_sec=1.0)
            return
        for each in transforms:
            why = insert_message(self._tree, each, static=static)
            if why:
                text = f"a transform of '{each.child_frame_id}' is not used: {why}"
                self._node.get_logger().warning(text, throttle_duration_sec=1.0)


def find_transforms(node: Node, changed: Callable[[], None]) -> TransformSource:
    """Return the received transforms, or `SameFrameOnly` if tf2_msgs is not installed."""
    try:
        return ReceivedTransforms(node, changed)
    except ImportError as error:
        node.get_logger().warning(
            f"no transforms ({error}): obstacles are only accepted in check_frame, "
            "and footprints only in base_frame"
        )
        return SameFrameOnly("tf2_msgs is not installed")

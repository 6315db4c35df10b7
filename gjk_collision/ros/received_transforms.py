# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The transform tree of the topics /tf and /tf_static."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.subscription import Subscription

from ..server.frames.poses import Pose, SameFrameOnly, TransformSource
from ..server.frames.transforms import TransformTree, decoded
from .throttled_log import ThrottledLog

__all__ = ["ReceivedTransforms", "find_transforms"]

# Length of the queue of a subscription, as in tf2_ros.
DEPTH = 100

# After this time without a pause, transforms are inserted later, so that requests are
# answered meanwhile [s]. This is enough for about 1000 transforms.
MAX_WORK = 0.01

# Maximum number of pairs (frame, reason) that are counted separately, and the name in place of
# further frames.
MAX_REFUSALS, OTHERS = 20, "other frames"


@dataclass
class _Topic:
    """A subscription, and messages that the executor has taken from it during a pause."""

    name: str
    is_static: bool
    subscription: Subscription | None = None
    taken: deque[bytes] = field(default_factory=lambda: deque(maxlen=DEPTH))


class ReceivedTransforms:
    """The transforms that a node receives.

    A lookup first reads all messages that have arrived. It does not wait: if a pose is not known,
    it raises `FrameError` at once.

    Parameters
    ----------
    node : Node
        Receives the messages. There is no thread, because a thread that is still running when the
        interpreter ends aborts the process.
    log : ThrottledLog
        Logs transforms that are refused.
    changed : callable
        Called after new transforms were inserted.

    Attributes
    ----------
    refused : Counter
        (frame, reason) -> number of transforms that were not used. The frame is the child frame;
        it is empty for a message that cannot be decoded.
    pauses : int
        Number of times that messages were left in the queues after `MAX_WORK`.
    """

    def __init__(
        self, node: Node, log: ThrottledLog, changed: Callable[[], None] = lambda: None
    ) -> None:
        from tf2_msgs.msg import TFMessage

        self._kind = TFMessage
        self._log = log
        self._changed = changed
        self._node = node
        self._clock = node.get_clock()
        self._tree = TransformTree(self._now())
        self.refused: Counter[tuple[str, str]] = Counter()
        self.pauses = 0
        self._resume_at = 0.0  # by `monotonic`: no message is inserted before [s]
        # Static transforms are inserted first: they have no age, so a pose with an old one would
        # be used.
        self._static = self._subscribe("/tf_static", DurabilityPolicy.TRANSIENT_LOCAL)
        self._moving = self._subscribe("/tf", DurabilityPolicy.VOLATILE)

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
        for topic in (self._static, self._moving):
            self._node.destroy_subscription(topic.subscription)

    def set_time(self, now: int) -> None:
        """Set the clock [ns], and insert the transforms that have arrived."""
        self._start_time(now)
        if self._insert_queued():
            self._changed()

    def _subscribe(self, name: str, durability: DurabilityPolicy) -> _Topic:
        topic = _Topic(name, is_static=name == "/tf_static")

        def receive(data: bytes) -> None:
            # If the clock went back, this message and those in the queue are from before the step.
            if not self._start_time(self._now()) or topic.is_static:
                topic.taken.append(data)
            if self._insert_queued():
                self._changed()

        # Subscribe to raw messages, so that an invalid message raises no error in the executor.
        qos = QoSProfile(depth=DEPTH, durability=durability)
        topic.subscription = self._node.create_subscription(
            self._kind, name, receive, qos, raw=True
        )
        return topic

    def _now(self) -> int:
        now: int = self._clock.now().nanoseconds
        return now

    def _start_time(self, now: int) -> bool:
        """Set the clock of the tree; if it dropped its moving transforms, drop the queued ones.

        rcl reports a step back of simulated time only, not one of the system clock.
        """
        is_new = self._tree.set_time(now)
        if is_new:
            while self._take(self._moving) is not None:
                pass
        return is_new

    def _take(self, topic: _Topic) -> bytes | None:
        """Return the oldest message of a topic that was not inserted yet."""
        if topic.taken:
            return topic.taken.popleft()
        assert topic.subscription is not None
        message = topic.subscription.handle.take_message(self._kind, True)
        return None if message is None else message[0]

    def _insert_queued(self) -> bool:
        """Insert the messages that are in the queues; return whether a transform was inserted.

        The executor takes one message of each topic between two requests. Under load the others
        would become old in the queue.

        If this takes more than `MAX_WORK`, the other messages are inserted later, after a pause of
        the same length. Until then, they count as not received. Without the pause, a sender could
        use all the time of the node.
        """
        begin = monotonic()
        if begin < self._resume_at:
            return False
        is_changed = False
        for topic in (self._static, self._moving):
            for _ in range(DEPTH):
                data = self._take(topic)
                if data is None:
                    break
                is_changed |= self._insert(data, static=topic.is_static)
                now = monotonic()
                if now - begin > MAX_WORK:
                    self.pauses += 1
                    self._resume_at = now + (now - begin)
                    return is_changed
        return is_changed

    def _insert(self, data: bytes, *, static: bool) -> bool:
        """Insert the transforms of a message; return whether one of them is used."""
        try:
            transforms = decoded(data)
        except Exception as error:
            self._refuse("", "the message cannot be decoded")
            text = f"a message with transforms cannot be decoded: {error!r}"
            self._log.error("transforms that cannot be decoded", text)
            return False
        is_used = False
        for parent, child, stamp, placement in transforms:
            why = self._tree.insert(parent, child, stamp, placement, static=static)
            is_used |= not why
            if why:
                self._refuse(child, why)
                text = f"a transform of '{child}' is not used: {why}"
                self._log.warning("transforms that are not used", text)
        return is_used

    def _refuse(self, frame: str, why: str) -> None:
        key = frame, why
        if key not in self.refused and len(self.refused) >= MAX_REFUSALS:
            key = OTHERS, why
        self.refused[key] += 1


def find_transforms(node: Node, log: ThrottledLog, changed: Callable[[], None]) -> TransformSource:
    """Return the received transforms, or `SameFrameOnly` if tf2_msgs is not installed."""
    try:
        return ReceivedTransforms(node, log, changed)
    except ImportError as error:
        node.get_logger().warning(
            f"no transforms ({error}): obstacles are only accepted in check_frame, "
            "and footprints only in base_frame"
        )
        return SameFrameOnly("tf2_msgs is not installed")

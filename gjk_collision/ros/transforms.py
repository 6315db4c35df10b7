# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Frames from tf2, where tf2_ros is installed."""

import threading
from contextlib import suppress
from typing import Any

from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time

from ..errors import InputError
from ..fields import nanoseconds
from ..frames import FrameError, Pose, SameFrameOnly, Transforms, planar
from ..verdict import Status

__all__ = ["TransformTree", "find_transforms"]


class TransformTree:
    """The transform tree that /tf and /tf_static tell of, heard in a thread of its own.

    A lookup never waits: what is not known now is a `FrameError` now.

    Parameters
    ----------
    node : Node
        Whose clock and context are used. The listener has a node of its own beside it, because
        one node cannot be spun by two executors.
    """

    def __init__(self, node: Node) -> None:
        import tf2_ros

        self._tf2: Any = tf2_ros
        # Of the arguments of the process only what becomes of /tf concerns the listener: a
        # fleet's robots often have their own.
        topics = {name: node.resolve_topic_name(name) for name in ("/tf", "/tf_static")}
        remaps = [word for pair in topics.items() for word in ("-r", ":=".join(pair))]
        self._node = Node(
            f"{node.get_name()}_tf",
            context=node.context,
            namespace=node.get_namespace(),
            cli_args=["--ros-args", *remaps],
            start_parameter_services=False,
            use_global_arguments=False,
        )
        self._buffer = tf2_ros.Buffer()
        # The buffer's own clock is not the node's: after a step back it would hold on to what was.
        back = JumpThreshold(
            min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True
        )
        self._clock = node.get_clock()
        self._jump = self._clock.create_jump_callback(
            back, post_callback=lambda _: self._buffer.clear()
        )
        self._listener = tf2_ros.TransformListener(self._buffer, self._node)
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name="tf", daemon=True)
        self._thread.start()

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
        """Stop listening."""
        self._jump.unregister()
        self._executor.shutdown()
        self._thread.join(timeout=1.0)
        self._node.destroy_node()

    def _spin(self) -> None:
        with suppress(ExternalShutdownException):
            self._executor.spin()

    def _find(self, target: str, source: str, stamp: int) -> tuple[Pose, int]:
        tf2 = self._tf2
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


def find_transforms(node: Node) -> Transforms:
    """Return the transform tree where tf2_ros is installed, else what knows no second frame."""
    try:
        return TransformTree(node)
    except ImportError as error:
        node.get_logger().warning(
            f"no transforms ({error}): only data in the check frame is accepted, "
            "and footprints in the base frame"
        )
        return SameFrameOnly("tf2_ros is not installed")


def _why(target: str, source: str, error: Exception) -> str:
    """Return why a lookup failed; the error of tf2 alone names one of the two frames."""
    return f"no transform from '{source}' to '{target}': {error}"

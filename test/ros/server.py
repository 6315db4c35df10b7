# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A collision server in its own process, and the node that a test talks to it with.

Nothing here waits for a time: it waits for a condition, up to a deadline that is generous,
because the machine may be slow and shared.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Point32, PolygonStamped
from gjk_collision.msg import CollisionState, ObstacleArray
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger

from gjk_collision import srv
from gjk_collision.ros.quality import SERVICE_QOS
from gjk_collision.verdict import Status, Verdict

DEADLINE = 100.0  # s, of what takes less than one on an idle machine

HAS_TRANSFORMS = find_spec("tf2_msgs") is not None
# Of a frame that nobody publishes. Where tf2_msgs is not installed, no transform is known at all.
# test_without_transforms.py tests both on a machine that has tf2_msgs.
MISSING_FRAME = Status.UNKNOWN_FRAME if HAS_TRANSFORMS else Status.TF_UNAVAILABLE

BOX = [1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0]

QUESTIONS = (
    "collide", "distance", "check_path", "check_poses", "nearest_free", "check_shapes",
    "get_snapshot",
)  # fmt: skip
SERVICES = {name: getattr(srv, name.title().replace("_", "")) for name in QUESTIONS} | {
    "reset": Trigger,
    "change_state": ChangeState,
    "describe_parameters": DescribeParameters,
    "get_parameters": GetParameters,
    "set_parameters_atomically": SetParametersAtomically,
}


class Server:
    """The process ``python -m gjk_collision.ros.node``; ``__ns`` is its namespace,
    ``params_file`` its parameter file, ``remap`` its rules of remapping; a parameter that is None
    is not set."""

    def __init__(self, name: str, **parameters: Any) -> None:
        self.name = name
        remaps = [f"{key}:={parameters.pop(key)}" for key in ("__ns",) if key in parameters]
        remaps += parameters.pop("remap", [])
        file = parameters.pop("params_file", None)
        given = [f"{k}:={_text(value)}" for k, value in parameters.items() if value is not None]
        arguments = [word for each in remaps for word in ("-r", each)]
        arguments += [word for each in given for word in ("-p", each)]
        arguments += ["--params-file", file] if file else []
        # Not a pipe: a server that complains much would wait for somebody to read it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gjk_collision.ros.node", "--ros-args"]
            + ["-r", f"__node:={name.rpartition('/')[2]}", *arguments],
            stderr=self._errors,
            env={**os.environ, "PYTHONSAFEPATH": "1"},  # the installed package, from anywhere
        )

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End the process; return its exit code."""
        self.process.send_signal(how)
        try:
            return self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    @property
    def log(self) -> str:
        """What the process has written to its standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode()


class Bench:
    """A node with clients of one server, an obstacle publisher that can be switched on and off."""

    def __init__(self, server: str) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("bench", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.clients = {
            name: self.node.create_client(kind, f"/{server}/{name}", qos_profile=SERVICE_QOS)
            for name, kind in SERVICES.items()
        }
        self.states: list[CollisionState] = []
        self.node.create_subscription(
            CollisionState, f"/{server}/state", self.states.append, QoSProfile(depth=10)
        )
        namespace = server.rpartition("/")[0]
        inputs = f"/{namespace}/" if namespace else "/"
        self.obstacles = self.node.create_publisher(ObstacleArray, f"{inputs}obstacles", 5)
        self.footprint = self.node.create_publisher(PolygonStamped, f"{inputs}footprint", 1)
        self.met: set[str] = set()  # services that have replied
        self.sequence = 0
        self.timer: Any = None

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def spin(self, timeout: float = 0.1) -> None:
        self.executor.spin_once(timeout_sec=timeout)

    def until(self, condition: Callable[[], Any], what: str, deadline: float = DEADLINE) -> Any:
        """Spin until the condition holds; return what it gives."""
        end = time.monotonic() + deadline
        while not (found := condition()):
            assert time.monotonic() < end, f"not within {deadline} s: {what}"
            self.spin(0.02)
        return found

    def call(self, name: str, request: Any, *, may_repeat: bool | None = None) -> Any:
        """Return the reply; a request that changes nothing may be sent twice."""
        client = self.clients[name]
        self.until(client.service_is_ready, f"service {name}")
        if name == "change_state" and name not in self.met and not may_repeat:
            # Its reply may be lost as well, and it must not be sent twice: a request that is
            # always refused goes first.
            refused = ChangeState.Request()
            refused.transition.label = "no such transition"
            assert not self.call(name, refused, may_repeat=True).success
        if name not in self.met and may_repeat is not False:
            reply = self.first_reply(client, request)
        else:
            future = client.call_async(request)
            self.until(future.done, f"reply of {name}")
            reply = future.result()
        self.met.add(name)
        return reply

    def first_reply(self, client: Any, request: Any) -> Any:
        """Ask with a new client, again if need be: the server may find our end of the reply
        later than we find the service, and its first replies are then lost; on a busy machine
        for more than 5 s. Any of the replies will do."""
        self.until(client.service_is_ready, client.srv_name)
        futures: list[Any] = []

        def replied() -> Any:
            return next((each for each in futures if each.done()), None)

        while len(futures) < 25 and not replied():
            futures.append(client.call_async(request))
            end = time.monotonic() + 1.0
            while not replied() and time.monotonic() < end:
                self.spin(0.02)
        return self.until(replied, f"reply of {client.srv_name}").result()

    # ---- what is asked

    def collide(self, x: float = 50.0, frame: str = "odom", **fields: Any) -> Any:
        request = srv.Collide.Request(**fields)
        request.pose.header.frame_id = frame
        request.pose.pose.position.x = x
        return self.call("collide", request)

    def distance(self, x: float = 50.0, **fields: Any) -> Any:
        request = srv.Distance.Request(**fields)
        request.pose.header.frame_id = "odom"
        request.pose.pose.position.x = x
        return self.call("distance", request)

    def check_poses(self, poses: Any, frame: str = "odom", **fields: Any) -> Any:
        request = srv.CheckPoses.Request(**fields)
        request.header.frame_id = frame
        request.poses = doubles(poses)
        return self.call("check_poses", request)

    def check_path(self, poses: Any, frame: str = "odom", **fields: Any) -> Any:
        request = srv.CheckPath.Request(**{"interpolation": srv.CheckPath.Request.SWEPT, **fields})
        request.header.frame_id = frame
        request.poses = doubles(poses)
        return self.call("check_path", request)

    def set(self, **parameters: Any) -> Any:
        request = SetParametersAtomically.Request()
        request.parameters = [
            Parameter(name, value=value).to_parameter_msg() for name, value in parameters.items()
        ]
        return self.call("set_parameters_atomically", request).result

    def get(self, *names: str) -> list[Any]:
        reply = self.call("get_parameters", GetParameters.Request(names=names))
        return [parameter_value_to_python(value) for value in reply.values]

    def transition(self, label: str) -> bool:
        request = ChangeState.Request()
        request.transition.label = label
        return bool(self.call("change_state", request).success)

    def until_status(self, verdict: Verdict, status: Status, **where: Any) -> Any:
        """Ask until this is the answer; whatever comes before must not be FREE by mistake."""

        def asked() -> Any:
            reply = self.collide(**where)
            assert reply.is_free == (reply.verdict.verdict == Verdict.FREE), reply
            return reply if said(reply) == (verdict, status) else None

        return self.until(asked, f"{verdict.name} / {status.name}")

    # ---- what is sent

    def array(self, centres: Iterable[tuple[float, float]] = ((0.0, 0.0),)) -> ObstacleArray:
        """Boxes of 2 m about these centres, stamped now."""
        xy = [np.reshape(BOX, (4, 2)) + centre for centre in centres]
        self.sequence += 1
        message = ObstacleArray(sequence=self.sequence)
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.header.frame_id = "odom"
        message.ids = array("q", range(len(xy)))
        message.offsets = array("I", range(0, 4 * len(xy) + 1, 4))
        message.xy = doubles(xy)
        return message

    def outline(self, points: Any = BOX, frame: str = "base_link") -> PolygonStamped:
        """A footprint as a message, stamped now."""
        message = PolygonStamped()
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.header.frame_id = frame
        corners = np.reshape(points, (-1, 2)).astype(float).tolist()
        message.polygon.points = [Point32(x=x, y=y) for x, y in corners]
        return message

    def publish(self, make: Callable[[], ObstacleArray] | None = None, rate: float = 20.0) -> None:
        """Send such messages from now on."""
        self.stop_publishing()
        make = make or self.array
        self.timer = self.node.create_timer(1.0 / rate, lambda: self.obstacles.publish(make()))

    def stop_publishing(self) -> None:
        if self.timer is not None:
            self.node.destroy_timer(self.timer)
            self.timer = None


def said(reply: Any) -> tuple[Verdict, Status]:
    """What a reply says."""
    return Verdict(reply.verdict.verdict), Status(reply.verdict.status)


def doubles(values: Any) -> array[float]:
    """A float64[] field of any numbers."""
    return array("d", np.asarray(values, dtype=np.float64).tobytes())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(_text(each) for each in value) + "]"
    return str(value)

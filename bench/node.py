# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node costs beside an empty rclpy service of the same type, in one run.

Three processes, as on a vehicle: this one asks, the collision server answers, and a server whose
callbacks do nothing answers the same types with arrays of the same size. The two are asked turn
by turn, so that what else the machine does meets both.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))

import numpy as np
import rclpy
from gjk_collision.msg import CollisionState, ObstacleArray
from gjk_collision.srv import CheckPoses, Collide
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile

from gjk_collision import Scene, Shape

CAR = [3.8, 0.9, -1.0, 0.9, -1.0, -0.9, 3.8, -0.9]
DEPTH = QoSProfile(depth=64)
OBSTACLES, POSES = 200, 1000


def empty_server() -> None:
    """Reply at once to `Collide` and `CheckPoses`, with arrays as long as the real ones."""
    rclpy.init()
    node = rclpy.create_node("empty")
    statuses = array("H", [1] * POSES)
    ids = array("q", [-1] * POSES)

    def check(request: Any, reply: Any) -> Any:
        reply.verdicts = array("B", bytes(len(request.poses) // 3))
        reply.statuses, reply.nearest_ids = statuses, ids
        return reply

    node.create_service(Collide, "empty/collide", lambda request, reply: reply, qos_profile=DEPTH)
    node.create_service(CheckPoses, "empty/check_poses", check, qos_profile=DEPTH)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        while rclpy.ok():
            executor.spin_once()


@contextlib.contextmanager
def servers() -> Iterator[None]:
    """Run both servers."""
    parameters = [f"footprint:={CAR}", "state_rate:=20.0", "obstacles.timeout:=60.0"]
    arguments = [word for each in parameters for word in ("-p", each)]
    started = [
        subprocess.Popen([sys.executable, *command], env={**os.environ, "PYTHONSAFEPATH": "1"})
        for command in (
            ["-m", "gjk_collision.ros.node", "--ros-args", *arguments, "--log-level", "warn"],
            [__file__, "--empty"],
        )
    ]
    try:
        yield
    finally:
        for each in started:
            each.terminate()
        for each in started:
            each.wait(10)


class Caller:
    """Asks both servers."""

    def __init__(self) -> None:
        rclpy.init()
        self.node: Node = rclpy.create_node("caller")
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.clients = {
            (server, name): self.node.create_client(kind, f"{server}/{name}", qos_profile=DEPTH)
            for server in ("collision_server", "empty")
            for name, kind in (("collide", Collide), ("check_poses", CheckPoses))
        }
        self.publisher = self.node.create_publisher(ObstacleArray, "obstacles", 5)
        self.beats: list[float] = []
        self.node.create_subscription(
            CollisionState,
            "collision_server/state",
            lambda _: self.beats.append(time.perf_counter()),
            10,
        )

    def spin_until(self, done: Callable[[], Any]) -> None:
        """Spin until it is so."""
        while not done():
            self.executor.spin_once(1.0)

    def call(self, server: str, name: str, request: Any) -> tuple[Any, float]:
        """Return the reply and the seconds to it."""
        begin = time.perf_counter()
        future = self.clients[server, name].call_async(request)
        self.spin_until(future.done)
        return future.result(), time.perf_counter() - begin

    def flood(self, server: str, name: str, request: Any, total: int, outstanding: int) -> float:
        """Return replies per second with so many requests under way."""
        client = self.clients[server, name]
        begin, pending, sent = time.perf_counter(), [], 0
        while sent < total or pending:
            while sent < total and len(pending) < outstanding:
                pending.append(client.call_async(request))
                sent += 1
            self.executor.spin_once(1.0)
            pending = [each for each in pending if not each.done()]
        return total / (time.perf_counter() - begin)


def surroundings() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the offsets and points of hexagons, and poses a few metres from them."""
    rng = np.random.default_rng(5)
    centres = rng.uniform(-60.0, 60.0, (OBSTACLES, 2))
    corner = np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    ring = np.column_stack([np.cos(corner), np.sin(corner)])
    poses = np.column_stack(
        [rng.uniform(-60.0, 60.0, (POSES, 2)), rng.uniform(-np.pi, np.pi, POSES)]
    )
    return np.arange(0, 6 * OBSTACLES + 1, 6), centres[:, None] + ring, poses


def doubles(values: Any) -> array[float]:
    return array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def quantiles(samples: list[float]) -> tuple[float, float]:
    """Return median and 99th percentile in microseconds."""
    middle, late = np.percentile(np.array(samples) * 1e6, [50, 99])
    return float(middle), float(late)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--empty", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, default=3000, help="of each kind")
    options = parser.parse_args()
    if options.empty:
        empty_server()
        return
    offsets, xy, poses = surroundings()
    with servers():
        caller = Caller()
        for client in caller.clients.values():
            client.wait_for_service()
        message = ObstacleArray(sequence=1)
        message.header.frame_id = "odom"
        message.ids = array("q", range(OBSTACLES))
        message.offsets = array("I", offsets.tolist())
        message.xy = doubles(xy)
        tiny = Collide.Request()
        tiny.pose.header.frame_id = "odom"
        batch = CheckPoses.Request(poses=doubles(poses))
        batch.header.frame_id = "odom"
        reply = Collide.Response()
        while reply.verdict.status != reply.verdict.SUCCESS:
            message.header.stamp = caller.node.get_clock().now().to_msg()
            caller.publisher.publish(message)
            reply, _ = caller.call("collision_server", "collide", tiny)
            caller.executor.spin_once(0.05)
        print(f"ROS 2 {os.environ.get('ROS_DISTRO', '?')}, {OBSTACLES} obstacles\n")
        print("| question | empty, us (p99) | server, us (p99) | ratio | inside, us |")
        print("|---|---:|---:|---:|---:|")
        for name, request, calls in (
            ("collide", tiny, options.calls),
            ("check_poses", batch, options.calls // 4),
        ):
            times: dict[str, list[float]] = {"empty": [], "collision_server": []}
            inside: list[float] = []
            for i in range(calls + 50):
                for server, samples in times.items():
                    reply, seconds = caller.call(server, name, request)
                    if i >= 50:
                        samples.append(seconds)
                        if server != "empty":
                            inside.append(reply.info.compute_time)
            empty, real = quantiles(times["empty"]), quantiles(times["collision_server"])
            title = "~/collide" if name == "collide" else f"~/check_poses, {POSES} poses"
            print(
                f"| {title} | {empty[0]:.0f} ({empty[1]:.0f}) | {real[0]:.0f} ({real[1]:.0f}) "
                f"| {real[0] / empty[0]:.2f} | {quantiles(inside)[0]:.0f} |"
            )
        scene, car = Scene.from_arrays(offsets, xy), Shape.polygon(np.reshape(CAR, (-1, 2)))
        alone = []
        for _ in range(200):
            begin = time.perf_counter()
            scene.check(car, poses)
            alone.append(time.perf_counter() - begin)
        print(f"\nThe library alone, {POSES} poses: {quantiles(alone)[0]:.0f} us")
        for name, request, total in (("collide", tiny, 4000), ("check_poses", batch, 800)):
            rates = [
                caller.flood(server, name, request, total, 16)
                for server in ("empty", "collision_server")
            ]
            print(f"~/{name}, 16 under way: {rates[0]:.0f}/s empty, {rates[1]:.0f}/s server")
        caller.beats.clear()
        end = time.perf_counter() + 3.0
        while time.perf_counter() < end:
            caller.call("collision_server", "check_poses", batch)
        gaps = np.diff(caller.beats) * 1e3
        print(
            f"Heartbeat every 50 ms under that load: {np.median(gaps):.1f} ms, "
            f"99 % {np.percentile(gaps, 99):.1f} ms, longest {gaps.max():.1f} ms"
        )
        caller.executor.shutdown()
        caller.node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()

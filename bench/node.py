# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the node costs beside an empty rclpy service of the same type, in one run.

python node.py [--quick] [--docs docs/benchmarks-node.md]

Three processes, as on a vehicle: this one asks, the collision server answers, and a server whose
callbacks do nothing answers the same types with arrays of the same size. The two are asked turn
by turn, so that what else the machine does meets both. --docs rewrites what lies between the
marks of this distribution there.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))

import numpy as np
import rclpy
from geometry_msgs.msg import TransformStamped
from gjk_collision.msg import CollisionState, ObstacleArray, Snapshot
from gjk_collision.srv import CheckPath, CheckPoses, Collide
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from report import machine, parser, publish

from gjk_collision import Scene, Shape
from gjk_collision.ros.mirror import CollisionMirror
from gjk_collision.ros.quality import SERVICE_QOS, SNAPSHOT_QOS
from gjk_collision.verdict import Status

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # the wheels of ROS do not have it
    TFMessage = None

CAR = [3.8, 0.9, -1.0, 0.9, -1.0, -0.9, 3.8, -0.9]
KINDS = {"collide": Collide, "check_poses": CheckPoses, "check_path": CheckPath}
OURS, EMPTY = "collision_server", "empty"
OBSTACLES, POSES, WAY, FEW_POSES = 200, 1000, 20, 15
GOALS = {"collide": 1.3, "check_poses": 1.5}
# Of the load: clients, requests that each has under way, obstacles at 20 Hz, poses per request.
CLIENTS, OUTSTANDING, MANY, FEW = 4, 16, 1000, 100
BEAT = 0.05  # s
# Of small questions beside a client with large batches: poses, requests under way, time between
# small questions, goal for the 99.9th percentile.
LARGE, LARGE_OUTSTANDING, PACE, LATE = 10_000, 2, 0.005, 5.0  # -, -, s, ms
# Of what the node refuses: name -> (what it is, messages per second, transforms per message).
REFUSED = {
    "stamp_0": ("5000 transforms/s with the stamp 0, 50 in a message", 100, 50),
    "ahead": ("5000 transforms/s an hour ahead of the clock, 50 in a message", 100, 50),
    "single": ("5000 transforms/s with the stamp 0, one in a message", 5000, 1),
    "many": ("2 messages/s of 2450 transforms with the stamp 0", 2, 2450),
    "obstacles": ("500 messages/s with obstacles an hour ahead of the clock", 500, 0),
    "more_obstacles": ("5000 messages/s with obstacles an hour ahead of the clock", 5000, 0),
    "undecodable": ("5000 messages/s with obstacles that cannot be decoded", 5000, 0),
    "requests": ("500 requests/s for a pose that is not finite", 500, 0),
}
HOUR = 3600  # s
SENDING_PERIOD = 0.01  # s


# ---- the other processes


def serve_nothing() -> None:
    """Reply at once, with arrays as long as the real ones."""
    rclpy.init()
    node = rclpy.create_node(EMPTY)

    def check_poses(request: Any, reply: Any) -> Any:
        count = len(request.poses) // 3
        reply.verdicts = array("B", bytes(count))
        reply.statuses = array("H", bytes(2 * count))
        reply.nearest_ids = array("q", bytes(8 * count))
        return reply

    for name, kind in KINDS.items():
        answer = check_poses if name == "check_poses" else lambda request, reply: reply
        node.create_service(kind, f"{EMPTY}/{name}", answer, qos_profile=SERVICE_QOS)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        while rclpy.ok():
            executor.spin_once()


def ask_without_end(seed: int, poses: int, outstanding: int) -> None:
    """One client of the load; on SIGINT say how often each status was the answer."""
    caller, statuses = Caller(f"client_{seed}", SignalHandlerOptions.NO), Counter[int]()
    request = batch(np.random.default_rng(seed).uniform(-60.0, 60.0, (poses, 3)))
    client, pending = caller.clients[OURS, "check_poses"], list[Any]()
    client.wait_for_service()
    # What is sent while the processes still find each other is lost without a word, so it is not
    # of the load: one request at a time, and another where no reply comes.
    settled = time.monotonic() + 2.0
    while time.monotonic() < settled:
        future, begin = client.call_async(request), time.monotonic()
        while not future.done() and time.monotonic() < begin + 1.0:
            caller.executor.spin_once(0.1)
    interrupted = threading.Event()  # an exception would take replies from the executor's hands
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    end = float("inf")
    while time.monotonic() < end and (pending or not interrupted.is_set()):
        if interrupted.is_set():
            end = min(end, time.monotonic() + 5.0)
        while not interrupted.is_set() and len(pending) < outstanding:
            pending.append(client.call_async(request))
        caller.executor.spin_once(1.0)
        statuses.update(each.result().verdict.status for each in pending if each.done())
        pending = [each for each in pending if not each.done()]
    for status, count in statuses.items():
        print(Status(status).name, count)
    if pending:
        print("LOST", len(pending))


def send_refused(kind: str) -> None:
    """Send messages or requests that the node refuses, at a steady rate, until SIGTERM."""
    _, rate, transforms = REFUSED[kind]
    rclpy.init()
    node = rclpy.create_node(f"sender_of_{kind}")
    stamp = node.get_clock().now().to_msg()
    stamp.sec += HOUR
    if kind == "requests":
        client = node.create_client(Collide, f"{OURS}/collide", qos_profile=SERVICE_QOS)
        client.wait_for_service()
        request = one_pose()
        request.pose.pose.position.x = float("nan")

        def send() -> None:
            client.call_async(request)
    else:
        if transforms:
            parts = [TransformStamped(child_frame_id=f"frame_{i}") for i in range(transforms)]
            for part in parts:
                part.header.frame_id = "odom"
                if kind == "ahead":
                    part.header.stamp = stamp
            publisher = node.create_publisher(TFMessage, "/tf", 100)
            data = serialize_message(TFMessage(transforms=parts))
        else:
            message = ObstacleArray(source="sender")
            message.header.stamp, message.header.frame_id = stamp, "odom"
            publisher = node.create_publisher(ObstacleArray, "obstacles", 5)
            data = serialize_message(message)
            if kind == "undecodable":
                data = data[:20]

        def send() -> None:
            publisher.publish(data)

    executor = SingleThreadedExecutor()
    executor.add_node(node)
    begin, sent = time.monotonic(), 0
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        while rclpy.ok():
            # A sender that has no processor for a while does not catch up.
            due = round((time.monotonic() - begin) * rate)
            for _ in range(min(due - sent, max(1, round(2 * rate * SENDING_PERIOD)))):
                send()
            sent = due
            end = time.monotonic() + SENDING_PERIOD
            while (left := end - time.monotonic()) > 0.0:
                executor.spin_once(left)


@contextlib.contextmanager
def started(*commands: list[str]) -> Iterator[list[subprocess.Popen[str]]]:
    """Run Python programs; their output is for the caller."""
    running = [
        subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "PYTHONSAFEPATH": "" if command[0] == __file__ else "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    try:
        yield running
    finally:
        for each in running:
            each.terminate()
        for each in running:
            end_of(each)


def end_of(process: subprocess.Popen[str]) -> None:
    """Wait for the end of a process that was asked to end; kill it if it does not."""
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


def server_command() -> list[str]:
    parameters = [f"footprint:={CAR}", f"state_rate:={1 / BEAT}", "obstacles.timeout:=60.0"]
    arguments = [word for each in parameters for word in ("-p", each)]
    return ["-m", "gjk_collision.ros.node", "--ros-args", *arguments, "--log-level", "error"]


# ---- this one


class Caller:
    """Asks both servers, and publishes obstacles."""

    def __init__(
        self, name: str, signals: SignalHandlerOptions = SignalHandlerOptions.ALL
    ) -> None:
        rclpy.init(signal_handler_options=signals)
        self.node: Node = rclpy.create_node(name)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.clients = {
            (server, name): self.node.create_client(
                kind, f"{server}/{name}", qos_profile=SERVICE_QOS
            )
            for server in (EMPTY, OURS)
            for name, kind in KINDS.items()
        }
        self.publisher = self.node.create_publisher(ObstacleArray, "obstacles", 5)
        self.beats: list[int] = []  # ns: when they were sent
        self.node.create_subscription(CollisionState, f"{OURS}/state", self._hear, 10)
        self.sequence = 0

    def _hear(self, state: CollisionState) -> None:
        stamp = state.header.stamp
        self.beats.append(stamp.sec * 1_000_000_000 + stamp.nanosec)

    def spin_until(self, done: Callable[[], Any]) -> None:
        """Spin until it is so."""
        while not done():
            self.executor.spin_once(0.1)

    def call(self, server: str, name: str, request: Any) -> tuple[Any, float]:
        """Return the reply and the seconds to it."""
        begin = time.perf_counter()
        future = self.clients[server, name].call_async(request)
        self.spin_until(future.done)
        return future.result(), time.perf_counter() - begin

    def flood(self, server: str, name: str, request: Any, total: int) -> float:
        """Return replies per second with 16 requests under way."""
        client = self.clients[server, name]
        begin, pending, sent = time.perf_counter(), list[Any](), 0
        while sent < total or pending:
            while sent < total and len(pending) < OUTSTANDING:
                pending.append(client.call_async(request))
                sent += 1
            self.executor.spin_once(1.0)
            pending = [each for each in pending if not each.done()]
        return total / (time.perf_counter() - begin)

    def publish(self, obstacles: np.ndarray) -> None:
        """Send obstacles, each a ring of points, shape (n, k, 2)."""
        self.sequence += 1
        message = ObstacleArray(sequence=self.sequence)
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.header.frame_id = "odom"
        count, corners = obstacles.shape[:2]
        message.ids = array("q", range(count))
        message.offsets = array("I", range(0, corners * count + 1, corners))
        message.xy = doubles(obstacles)
        self.publisher.publish(message)

    def until_known(self, obstacles: np.ndarray) -> None:
        """Publish until the server has an answer."""
        for client in self.clients.values():
            client.wait_for_service()
        reply = Collide.Response()
        while reply.verdict.status != Status.SUCCESS:
            self.publish(obstacles)
            reply, _ = self.call(OURS, "collide", one_pose())
            self.executor.spin_once(0.05)


def doubles(values: Any) -> array[float]:
    return array("d", np.ascontiguousarray(values, dtype=np.float64).tobytes())


def hexagons(count: int, rng: np.random.Generator) -> np.ndarray:
    corner = np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    ring = np.column_stack([np.cos(corner), np.sin(corner)])
    return rng.uniform(-60.0, 60.0, (count, 1, 2)) + ring


def one_pose(frame: str = "odom") -> Any:
    request = Collide.Request()
    request.pose.header.frame_id = frame
    return request


def batch(poses: np.ndarray) -> Any:
    request = CheckPoses.Request(poses=doubles(poses))
    request.header.frame_id = "odom"
    return request


def path(poses: np.ndarray) -> Any:
    request = CheckPath.Request(poses=doubles(poses), interpolation=CheckPath.Request.SWEPT)
    request.header.frame_id = "odom"
    return request


# ---- what is measured


def latency(
    caller: Caller, name: str, title: str, request: Any, calls: int, alone: Callable[[], Any]
) -> str:
    """Ask both servers and the library in turn; return a row of the table."""
    taken: dict[str, list[float]] = {EMPTY: [], OURS: [], "": []}
    for i in range(calls + 50):
        for server, samples in taken.items():
            if server:
                _, seconds = caller.call(server, name, request)
            else:
                begin = time.perf_counter()
                alone()
                seconds = time.perf_counter() - begin
            if i >= 50:
                samples.append(seconds * 1e6)
    empty, ours, kernel = (float(np.median(samples)) for samples in taken.values())
    late = {server: float(np.percentile(samples, 99)) for server, samples in taken.items()}
    part = 0.0 if name == "collide" else kernel  # one pose has no excuse
    return (
        f"| {title} | {empty:.0f} ({late[EMPTY]:.0f}) | {ours:.0f} ({late[OURS]:.0f}) "
        f"| {kernel:.0f} | {(ours - part) / empty:.2f} | {GOALS.get(name, '')} |"
    )


@contextlib.contextmanager
def asking(caller: Caller, clients: int, poses: int, outstanding: int) -> Iterator[Counter[str]]:
    """Have clients ask without end; at the end, fill how often each status was the answer."""
    statuses: Counter[str] = Counter()
    options = ["--poses", str(poses), "--outstanding", str(outstanding)]
    commands = [[__file__, "--client", str(i), *options] for i in range(clients)]
    with started(*commands) as running:
        service = f"/{OURS}/check_poses"
        others = caller.node.count_clients(service)
        caller.spin_until(lambda: caller.node.count_clients(service) >= others + clients)
        end = time.monotonic() + 4.0  # until they have settled
        caller.spin_until(lambda: time.monotonic() > end)
        yield statuses
        for each in running:
            each.send_signal(signal.SIGINT)
        for each in running:
            for line in each.communicate(timeout=30)[0].splitlines():
                name, count = line.split()
                statuses[name] += int(count)


def in_words(statuses: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in statuses.most_common())


def paced(caller: Caller, seconds: float, frame: str = "odom") -> tuple[list[float], Counter[str]]:
    """Ask small questions at a steady pace; return the times to the replies [ms], and statuses."""
    taken, statuses, next_one = list[float](), Counter[str](), time.monotonic()
    end = next_one + seconds
    while (now := time.monotonic()) < end:
        caller.executor.spin_once(max(0.0, next_one - now))
        if time.monotonic() >= next_one:
            next_one += PACE
            reply, took = caller.call(OURS, "collide", one_pose(frame))
            statuses[Status(reply.verdict.status).name] += 1
            taken.append(took * 1e3)
    return taken, statuses


def answered(caller: Caller, seconds: float) -> str:
    """Ask small questions, which must be answered; return a part of a row."""
    taken, statuses = paced(caller, seconds)
    assert set(statuses) == {"SUCCESS"}, statuses
    low, high, last = np.percentile(taken, [50, 99, 99.9])
    return f"{len(taken)} | {low:.1f} | {high:.1f} | {last:.1f} | {max(taken):.1f}"


def disturbed(caller: Caller, seconds: float) -> list[str]:
    """Ask small questions beside large batches; return the rows of a table."""
    obstacles = hexagons(OBSTACLES, np.random.default_rng(5))
    caller.until_known(obstacles)
    lines = [
        "",
        f"| `~/collide`, one every {PACE * 1e3:.0f} ms | calls | median, ms | 99 % | 99.9 % | max "
        "| goal, 99.9 % |",
        "|---|---:|---:|---:|---:|---:|---:|",
        f"| alone | {answered(caller, seconds)} | |",
    ]
    caller.until_known(obstacles)  # so that they do not become too old
    with asking(caller, 1, LARGE, LARGE_OUTSTANDING) as statuses:
        found = answered(caller, seconds)
    what = f"beside a client with {LARGE_OUTSTANDING} batches of {LARGE} poses under way"
    lines.append(f"| {what} | {found} | {LATE:.0f} |")
    return [*lines, "", f"Replies to the batches: {in_words(statuses)}."]


def loaded(caller: Caller, seconds: float) -> list[str]:
    """Have four clients ask without end; return how the heart beats meanwhile."""
    obstacles = hexagons(MANY, np.random.default_rng(6))
    caller.until_known(obstacles)
    timer = caller.node.create_timer(0.05, lambda: caller.publish(obstacles))
    with asking(caller, CLIENTS, FEW, OUTSTANDING) as statuses:
        caller.beats.clear()
        end = time.monotonic() + seconds
        caller.spin_until(lambda: time.monotonic() > end)
        beats = list(caller.beats)
    caller.node.destroy_timer(timer)
    gaps = np.array([after - before for before, after in pairwise(beats)]) * 1e-6
    replies = in_words(statuses)
    return [
        f"- heartbeats every {BEAT * 1e3:.0f} ms with {CLIENTS} clients of {OUTSTANDING} requests "
        f"under way, {FEW} poses each, and {MANY} obstacles at 20 Hz: median "
        f"{np.median(gaps):.1f} ms, 1 to 99 % {np.percentile(gaps, 1):.1f} to "
        f"{np.percentile(gaps, 99):.1f} ms, longest {gaps.max():.1f} ms; replies: {replies}"
    ]


def refusing(caller: Caller, seconds: float) -> list[str]:
    """Ask small questions while another process sends what is refused; return a table."""
    caller.until_known(hexagons(OBSTACLES, np.random.default_rng(7)))
    frame = "odom"
    if TFMessage is not None:  # a frame that each request looks up
        frame = "lidar"
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = caller.node.create_publisher(TFMessage, "/tf_static", latched)
        sent = [TransformStamped(child_frame_id=child) for child in ("base_link", frame)]
        for each in sent:
            each.header.frame_id, each.transform.translation.x = "odom", 500.0
        publisher.publish(TFMessage(transforms=sent))
        reply = Collide.Response()
        while reply.verdict.status != Status.SUCCESS:
            reply, _ = caller.call(OURS, "collide", one_pose(frame))
    lines = [
        "",
        f"| `~/collide` in the frame `{frame}`, one every {PACE * 1e3:.0f} ms | calls "
        "| median, ms | median / alone | 99 % | max | gap of heartbeats, median, ms | longest "
        "| statuses |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    usual = 0.0
    for kind, (title, _, transforms) in {"": ("alone", 0, 0), **REFUSED}.items():
        if transforms and TFMessage is None:
            lines.append(f"| {title} | not measured: tf2_msgs is not installed | | | | | | | |")
            continue
        with started(*[[__file__, "--sender", kind]] if kind else []):
            end = time.monotonic() + (3.0 if kind else 0.0)  # until it sends
            caller.spin_until(lambda end=end: time.monotonic() > end)
            caller.beats.clear()
            taken, statuses = paced(caller, seconds, frame)
            beats = list(caller.beats)
        median, high = np.percentile(taken, [50, 99])
        usual = usual or median
        gaps = np.diff(beats) * 1e-6
        lines.append(
            f"| {title} | {len(taken)} | {median:.2f} | {median / usual:.2f} | {high:.1f} "
            f"| {max(taken):.1f} | {np.median(gaps):.1f} | {gaps.max():.1f} "
            f"| {in_words(statuses)} |"
        )
    return lines


def stamps() -> dict[str, int]:
    """Return the time stamps of the middleware for a message that was just sent."""
    now = time.time_ns()
    return {"source_timestamp": now, "received_timestamp": now}


def microseconds(ask: Callable[[], Any], calls: int) -> list[float]:
    taken = []
    for _ in range(calls + 50):
        begin = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - begin) * 1e6)
    return taken[50:]


def median(taken: list[float]) -> str:
    return f"{np.median(taken):.1f} ({np.percentile(taken, 99):.1f})"


def mirrored(
    caller: Caller, obstacles: np.ndarray, poses: np.ndarray, way: np.ndarray, calls: int
) -> list[str]:
    """Ask a mirror, the library and the service; return rows for each question."""
    scene = Scene.from_arrays(np.arange(0, 6 * OBSTACLES + 1, 6), obstacles.reshape(-1, 2))
    car = Shape.polygon(np.reshape(CAR, (-1, 2)))
    received: list[bytes] = []
    caller.node.create_subscription(
        Snapshot, f"{OURS}/snapshot", received.append, SNAPSHOT_QOS, raw=True
    )
    mirror = CollisionMirror(caller.node, "odom", server=OURS)
    deadline = time.monotonic() + 30.0
    caller.spin_until(lambda: mirror.fault() is None or time.monotonic() > deadline)
    assert mirror.fault() is None, mirror.fault()
    few, x = poses[:FEW_POSES], np.zeros(3)
    rows = [
        ("1 pose", lambda: mirror.collide(x), lambda: scene.check(car, x), one_pose()),
        (
            f"{FEW_POSES} poses",
            lambda: mirror.check_poses(few),
            lambda: scene.check(car, few),
            batch(few),
        ),
        (
            f"{len(poses)} poses",
            lambda: mirror.check_poses(poses),
            lambda: scene.check(car, poses),
            batch(poses),
        ),
        (
            f"path of {len(way)} poses, swept",
            lambda: mirror.check_path(way),
            lambda: scene.check_path(car, way),
            path(way),
        ),
    ]
    lines = [
        "",
        "| question | service | mirror | library alone | mirror / library | goal |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for title, ask, alone, request in rows:
        name = {Collide.Request: "collide", CheckPoses.Request: "check_poses"}.get(
            type(request), "check_path"
        )
        service = [caller.call(OURS, name, request)[1] * 1e6 for _ in range(calls // 4)]
        ours, own = microseconds(ask, calls), microseconds(alone, calls)
        ratio = np.median(ours) / np.median(own)
        lines.append(
            f"| {title} | {median(service)} | {median(ours)} | {median(own)} | {ratio:.2f} | 1.5 |"
        )
    # From a message to an answer: the bytes are read, the scene is built, and one pose is checked.
    received.clear()
    caller.until_known(obstacles)  # so that they do not become too old
    caller.spin_until(lambda: received)
    taken = microseconds(
        lambda: (mirror._receive_snapshot(received[-1], stamps()), mirror.collide(x)), calls // 4
    )
    caller.until_known(obstacles)
    timer = caller.node.create_timer(0.05, lambda: caller.publish(obstacles))
    end = time.monotonic() + 5.0
    received.clear()
    caller.spin_until(lambda: time.monotonic() > end)
    caller.node.destroy_timer(timer)
    count, total = len(received), sum(map(len, received))
    mirror.close()
    lines += [
        "",
        f"- a message on `~/snapshot` with {OBSTACLES} obstacles to an answer for one pose: "
        f"{median(taken)} us; goal 1000",
        f"- `~/snapshot` with {OBSTACLES} obstacles at 20 Hz: {count / 5.0:.1f} messages/s, "
        f"{total / max(count, 1) / 1e3:.1f} kB each, {total / 5e6:.2f} MB/s per subscriber",
    ]
    return lines


def measure(quick: bool) -> str:
    rng = np.random.default_rng(5)
    obstacles = hexagons(OBSTACLES, rng)
    poses = np.column_stack([rng.uniform(-60, 60, (POSES, 2)), rng.uniform(-np.pi, np.pi, POSES)])
    way = np.column_stack([np.linspace(-61.0, 61.0, WAY), np.full(WAY, 64.0), np.zeros(WAY)])
    scene = Scene.from_arrays(np.arange(0, 6 * OBSTACLES + 1, 6), obstacles.reshape(-1, 2))
    car = Shape.polygon(np.reshape(CAR, (-1, 2)))
    with started(server_command(), [__file__, "--nothing"]):
        caller = Caller("caller")
        caller.until_known(obstacles)
        lines = [
            f"{datetime.now(UTC).date()}, {machine()}; Python {platform.python_version()}. "
            f"Load average at the start {os.getloadavg()[0]:.1f}. {OBSTACLES} hexagons; "
            "microseconds from request to reply, median (99 %).",
            "",
            "| question | empty service | collision_server | library alone | ratio | goal |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        calls = 500 if quick else 3000
        for name, title, request, alone in (
            ("collide", "`~/collide`", one_pose(), lambda: scene.check(car, poses[:1])),
            (
                "check_poses",
                f"`~/check_poses`, {POSES} poses",
                batch(poses),
                lambda: scene.check(car, poses),
            ),
            (
                "check_path",
                f"`~/check_path`, {WAY} poses, swept",
                path(way),
                lambda: scene.check_path(car, way),
            ),
        ):
            share = 4 if name == "check_poses" else 1
            lines.append(latency(caller, name, title, request, calls // share, alone))
        lines.append("")
        for name, request in (("collide", one_pose()), ("check_poses", batch(poses))):
            total = calls if name == "collide" else calls // 4
            empty, ours = (caller.flood(each, name, request, total) for each in (EMPTY, OURS))
            lines.append(
                f"- `~/{name}`, {OUTSTANDING} requests under way: {ours:.0f} replies/s, "
                f"the empty service {empty:.0f}"
            )
        lines += mirrored(caller, obstacles, poses, way, calls)
        lines += disturbed(caller, 5.0 if quick else 30.0)
        lines.append("")
        lines += loaded(caller, 5.0 if quick else 20.0)
        # The last one: the sources that it spoils stay UNKNOWN.
        lines += refusing(caller, 5.0 if quick else 20.0)
    rclpy.try_shutdown()
    return "\n".join(lines)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--nothing", action="store_true", help=argparse.SUPPRESS)
    for name in ("client", "poses", "outstanding"):
        arguments.add_argument(f"--{name}", type=int, help=argparse.SUPPRESS)
    arguments.add_argument("--sender", choices=REFUSED, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.nothing:
        serve_nothing()
    elif options.sender is not None:
        send_refused(options.sender)
    elif options.client is not None:
        ask_without_end(options.client, options.poses, options.outstanding)
    else:
        publish({os.environ["ROS_DISTRO"]: measure(options.quick)}, options.docs)


if __name__ == "__main__":
    main()

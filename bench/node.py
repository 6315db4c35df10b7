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
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import TransformStamped
from gjk_collision.msg import CollisionState, ObstacleArray, Snapshot
from gjk_collision.srv import CheckPath, CheckPoses, Collide
from page import circumstances, parser, publish, table
from processes import SERVER, executor_of, server, spin, started
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions

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
OURS, EMPTY = SERVER, "empty"
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
    spin(node)


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

    begin, sent = time.monotonic(), 0

    def turn(executor: SingleThreadedExecutor) -> None:
        nonlocal sent
        # A sender that has no processor for a while does not catch up.
        due = round((time.monotonic() - begin) * rate)
        for _ in range(min(due - sent, max(1, round(2 * rate * SENDING_PERIOD)))):
            send()
        sent = due
        end = time.monotonic() + SENDING_PERIOD
        while (left := end - time.monotonic()) > 0.0:
            executor.spin_once(left)

    spin(node, turn)


# ---- this one


class Caller:
    """Asks both servers, and publishes obstacles."""

    def __init__(
        self, name: str, signals: SignalHandlerOptions = SignalHandlerOptions.ALL
    ) -> None:
        rclpy.init(signal_handler_options=signals)
        self.node = rclpy.create_node(name)
        self.executor = executor_of(self.node)
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

    def spin_for(self, seconds: float) -> None:
        """Spin for a time."""
        end = time.monotonic() + seconds
        self.spin_until(lambda: time.monotonic() > end)

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
        while not self.is_answered("odom"):
            self.publish(obstacles)
            self.executor.spin_once(0.05)

    def is_answered(self, frame: str) -> bool:
        """Return whether the server has an answer for a pose in a frame."""
        reply, _ = self.call(OURS, "collide", one_pose(frame))
        return bool(reply.verdict.status == Status.SUCCESS)

    @contextlib.contextmanager
    def publishing(self, obstacles: np.ndarray) -> Iterator[None]:
        """Publish at 20 Hz meanwhile."""
        timer = self.node.create_timer(0.05, lambda: self.publish(obstacles))
        yield
        self.node.destroy_timer(timer)


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


def of_poses(kind: Any, poses: np.ndarray, **fields: Any) -> Any:
    request = kind.Request(poses=doubles(poses), **fields)
    request.header.frame_id = "odom"
    return request


def batch(poses: np.ndarray) -> Any:
    return of_poses(CheckPoses, poses)


# ---- what is measured


class Library:
    """The same obstacles and questions without ROS."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        self.obstacles = hexagons(OBSTACLES, rng)
        places = rng.uniform(-60, 60, (POSES, 2))
        self.poses = np.column_stack([places, rng.uniform(-np.pi, np.pi, POSES)])
        x = np.linspace(-61.0, 61.0, WAY)
        self.way = np.column_stack([x, np.full(WAY, 64.0), np.zeros(WAY)])
        offsets = np.arange(0, 6 * OBSTACLES + 1, 6)
        self.scene = Scene.from_arrays(offsets, self.obstacles.reshape(-1, 2))
        self.car = Shape.polygon(np.reshape(CAR, (-1, 2)))
        self.path = of_poses(CheckPath, self.way, interpolation=CheckPath.Request.SWEPT)

    def check(self, poses: np.ndarray) -> Callable[[], Any]:
        """Return a call that checks poses."""
        return lambda: self.scene.check(self.car, poses)

    def check_path(self) -> Any:
        """Check the path."""
        return self.scene.check_path(self.car, self.way)


def microseconds(ask: Callable[[], Any], calls: int) -> list[float]:
    """Return the times of calls, after 50 that are not counted."""
    taken = []
    for _ in range(calls + 50):
        begin = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - begin) * 1e6)
    return taken[50:]


def median(taken: list[float], digits: int = 1) -> str:
    return f"{np.median(taken):.{digits}f} ({np.percentile(taken, 99):.{digits}f})"


def beside_empty(caller: Caller, library: Library, calls: int) -> str:
    """Ask both servers and the library in turn; return a table, and the throughputs."""
    poses = library.poses
    lines = []
    for name, title, request, alone in (
        ("collide", "", one_pose(), library.check(poses[:1])),
        ("check_poses", f", {POSES} poses", batch(poses), library.check(poses)),
        ("check_path", f", {WAY} poses, swept", library.path, library.check_path),
    ):
        ways = {
            EMPTY: lambda name=name, request=request: caller.call(EMPTY, name, request),
            OURS: lambda name=name, request=request: caller.call(OURS, name, request),
            "": alone,
        }
        taken: dict[str, list[float]] = {way: [] for way in ways}
        for i in range(calls // (4 if name == "check_poses" else 1) + 50):
            for way, ask in ways.items():
                begin = time.perf_counter()
                ask()
                if i >= 50:
                    taken[way].append((time.perf_counter() - begin) * 1e6)
        empty, ours, kernel = (float(np.median(each)) for each in taken.values())
        part = 0.0 if name == "collide" else kernel  # one pose has no excuse
        cells = [median(taken[EMPTY], 0), median(taken[OURS], 0), f"{kernel:.0f}"]
        ratio = f"{(ours - part) / empty:.2f}"
        lines.append([f"`~/{name}`{title}", *cells, ratio, GOALS.get(name, "")])
    header = ["question", "empty service", "collision_server", "library alone", "ratio", "goal"]
    rates = []
    for name, request in (("collide", one_pose()), ("check_poses", batch(poses))):
        total = calls if name == "collide" else calls // 4
        empty, ours = (caller.flood(each, name, request, total) for each in (EMPTY, OURS))
        rates.append(
            f"- `~/{name}`, {OUTSTANDING} requests under way: {ours:.0f} replies/s, "
            f"the empty service {empty:.0f}"
        )
    return "\n".join([table(header, lines), "", *rates])


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
        caller.spin_for(4.0)  # until they have settled
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


def disturbed(caller: Caller, library: Library, seconds: float) -> str:
    """Ask small questions beside large batches; return a table."""

    def answered(title: str, goal: str) -> list[Any]:
        taken, statuses = paced(caller, seconds)
        assert set(statuses) == {"SUCCESS"}, statuses
        figures = [*np.percentile(taken, [50, 99, 99.9]), max(taken)]
        return [title, len(taken), *(f"{each:.1f}" for each in figures), goal]

    caller.until_known(library.obstacles)
    lines = [answered("alone", "")]
    caller.until_known(library.obstacles)  # so that they do not become too old
    with asking(caller, 1, LARGE, LARGE_OUTSTANDING) as statuses:
        what = f"beside a client with {LARGE_OUTSTANDING} batches of {LARGE} poses under way"
        lines.append(answered(what, f"{LATE:.0f}"))
    header = [f"`~/collide`, one every {PACE * 1e3:.0f} ms", "calls", "median, ms", "99 %",
              "99.9 %", "max", "goal, 99.9 %"]  # fmt: skip
    return f"{table(header, lines)}\n\nReplies to the batches: {in_words(statuses)}."


def loaded(caller: Caller, seconds: float) -> str:
    """Have four clients ask without end; return how the heart beats meanwhile."""
    obstacles = hexagons(MANY, np.random.default_rng(6))
    caller.until_known(obstacles)
    with caller.publishing(obstacles), asking(caller, CLIENTS, FEW, OUTSTANDING) as statuses:
        caller.beats.clear()
        caller.spin_for(seconds)
        beats = list(caller.beats)
    gaps = np.array([after - before for before, after in pairwise(beats)]) * 1e-6
    return (
        f"- heartbeats every {BEAT * 1e3:.0f} ms with {CLIENTS} clients of {OUTSTANDING} requests "
        f"under way, {FEW} poses each, and {MANY} obstacles at 20 Hz: median "
        f"{np.median(gaps):.1f} ms, 1 to 99 % {np.percentile(gaps, 1):.1f} to "
        f"{np.percentile(gaps, 99):.1f} ms, longest {gaps.max():.1f} ms; replies: "
        f"{in_words(statuses)}"
    )


def refusing(caller: Caller, library: Library, seconds: float) -> str:
    """Ask small questions while another process sends what is refused; return a table."""
    caller.until_known(library.obstacles)
    frame = "odom"
    if TFMessage is not None:  # a frame that each request looks up
        frame = "lidar"
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = caller.node.create_publisher(TFMessage, "/tf_static", latched)
        sent = [TransformStamped(child_frame_id=child) for child in ("base_link", frame)]
        for each in sent:
            each.header.frame_id, each.transform.translation.x = "odom", 500.0
        publisher.publish(TFMessage(transforms=sent))
        while not caller.is_answered(frame):
            pass
    lines: list[list[Any]] = []
    usual = 0.0
    for kind, (title, _, transforms) in {"": ("alone", 0, 0), **REFUSED}.items():
        if transforms and TFMessage is None:
            lines.append([title, "not measured: tf2_msgs is not installed", *[""] * 7])
            continue
        with started(*[[__file__, "--sender", kind]] if kind else []):
            caller.spin_for(3.0 if kind else 0.0)  # until it sends
            caller.beats.clear()
            taken, statuses = paced(caller, seconds, frame)
            gaps = np.diff(caller.beats) * 1e-6
        middle, high = np.percentile(taken, [50, 99])
        usual = usual or middle
        figures = [f"{middle:.2f}", f"{middle / usual:.2f}"]
        tails = [high, max(taken), np.median(gaps), gaps.max()]
        figures += [f"{each:.1f}" for each in tails]
        lines.append([title, len(taken), *figures, in_words(statuses)])
    header = [f"`~/collide` in the frame `{frame}`, one every {PACE * 1e3:.0f} ms", "calls",
              "median, ms", "median / alone", "99 %", "max", "gap of heartbeats, median, ms",
              "longest", "statuses"]  # fmt: skip
    return table(header, lines, left=(0, 8))


def mirrored(caller: Caller, library: Library, calls: int) -> str:
    """Ask a mirror, the library and the service; return a row for each question."""
    received: list[bytes] = []
    caller.node.create_subscription(
        Snapshot, f"{OURS}/snapshot", received.append, SNAPSHOT_QOS, raw=True
    )
    mirror = CollisionMirror(caller.node, "odom", server=OURS)
    deadline = time.monotonic() + 30.0
    caller.spin_until(lambda: mirror.fault() is None or time.monotonic() > deadline)
    assert mirror.fault() is None, mirror.fault()
    x, way = np.zeros(3), library.way
    rows = [
        ("1 pose", "collide", lambda: mirror.collide(x), library.check(x), one_pose()),
        *(
            (f"{n} poses", "check_poses", lambda n=n: mirror.check_poses(library.poses[:n]),
             library.check(library.poses[:n]), batch(library.poses[:n]))
            for n in (FEW_POSES, POSES)
        ),
        (f"path of {WAY} poses, swept", "check_path", lambda: mirror.check_path(way),
         library.check_path, library.path),
    ]  # fmt: skip
    lines = []
    for title, name, ask, alone, request in rows:
        service = [caller.call(OURS, name, request)[1] * 1e6 for _ in range(calls // 4)]
        ours, own = microseconds(ask, calls), microseconds(alone, calls)
        ratio = f"{np.median(ours) / np.median(own):.2f}"
        lines.append([title, *map(median, (service, ours, own)), ratio, "1.5"])
    # From a message to an answer: the bytes are read, the scene is built, and one pose is checked.
    received.clear()
    caller.until_known(library.obstacles)  # so that they do not become too old
    caller.spin_until(lambda: received)

    def receive() -> Any:
        now = time.time_ns()  # as if it had just been sent
        stamps = {"source_timestamp": now, "received_timestamp": now}
        mirror._receive_snapshot(received[-1], stamps)
        return mirror.collide(x)

    taken = microseconds(receive, calls // 4)
    caller.until_known(library.obstacles)
    with caller.publishing(library.obstacles):
        received.clear()
        caller.spin_for(5.0)
    count, total = len(received), sum(map(len, received))
    mirror.close()
    header = ["question", "service", "mirror", "library alone", "mirror / library", "goal"]
    return (
        f"{table(header, lines)}\n\n"
        f"- a message on `~/snapshot` with {OBSTACLES} obstacles to an answer for one pose: "
        f"{median(taken)} us; goal 1000\n"
        f"- `~/snapshot` with {OBSTACLES} obstacles at 20 Hz: {count / 5.0:.1f} messages/s, "
        f"{total / max(count, 1) / 1e3:.1f} kB each, {total / 5e6:.2f} MB/s per subscriber"
    )


def measure(quick: bool, command: str) -> str:
    library, calls, seconds = Library(), 500 if quick else 3000, 5.0 if quick else 20.0
    facts = circumstances(
        f"Python {platform.python_version()}; `{command}`. Load average at the start "
        f"{os.getloadavg()[0]:.1f}. {OBSTACLES} hexagons; microseconds from request to reply, "
        "median (99 %)."
    )
    parameters = {"footprint": CAR, "state_rate": 1 / BEAT, "obstacles.timeout": 60.0}
    with started(server(parameters, "--log-level", "error"), [__file__, "--nothing"]):
        caller = Caller("caller")
        caller.until_known(library.obstacles)
        parts = [
            facts,
            beside_empty(caller, library, calls),
            mirrored(caller, library, calls),
            disturbed(caller, library, 1.5 * seconds),
            loaded(caller, seconds),
            # The last one: the sources that it spoils stay UNKNOWN.
            refusing(caller, library, seconds),
        ]
    rclpy.try_shutdown()
    return "\n\n".join(parts)


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
        publish({os.environ["ROS_DISTRO"]: measure(options.quick, options.command)}, options.docs)


if __name__ == "__main__":
    main()

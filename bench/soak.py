# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A run of the node with all kinds of sources at rate: lost messages, late replies and memory.

python soak.py [MINUTES] [--rate 200] [--output soak.json]

Three processes, as on a vehicle: one publishes scans of 1440 beams at 20 Hz, clouds of 20 000
points at 10 Hz, grids of 400 x 400 cells at 5 Hz, lists of 200 obstacles at 20 Hz, and a region
that is published once; the collision server; and this one, which sends requests. The run fails if
a message was lost, a reply is missing or not as expected, or the memory grows.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import time
from array import array
from collections import Counter, deque
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from gjk_collision.msg import CollisionState, ObstacleArray
from gjk_collision.srv import Collide
from nav_msgs.msg import OccupancyGrid
from processes import SERVER, executor_of, server, spin, started
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import LaserScan, PointCloud2, PointField

from gjk_collision.ros.quality import SERVICE_QOS
from gjk_collision.verdict import Status, Verdict

BEAMS, POINTS, SIDE, OBSTACLES = 1440, 20_000, 400, 200
RATES = {"scan": 20.0, "cloud": 10.0, "grid": 5.0, "boxes": 20.0}  # Hz
TYPES = {
    "scan": "sensor_msgs/msg/LaserScan", "cloud": "sensor_msgs/msg/PointCloud2",
    "grid": "nav_msgs/msg/OccupancyGrid", "boxes": "gjk_collision/msg/ObstacleArray",
    "fence": "gjk_collision/msg/ObstacleArray",
}  # fmt: skip
PARAMETERS = {
    "footprint": "[1.0,0.5,-1.0,0.5,-1.0,-0.5,1.0,-0.5]",
    "check_frame": "base_link",
    "obstacle_sources": "[scan,cloud,grid,boxes,fence]",
    **{f"{name}.type": kind for name, kind in TYPES.items()},
    **{f"{name}.qos_reliability": "reliable" for name in TYPES},
    "cloud.min_height": "0.1",
    "cloud.max_height": "2.0",
    "cloud.voxel_size": "0.1",
    "fence.static": "true",
    "fence.qos_durability": "transient_local",
}
WARM_UP = 20.0  # s, without lost messages and without the growth of memory
GROWTH = 8.0  # MiB that the memory may grow after the warm-up
MAX_OUTSTANDING = 64  # requests
# Poses and their verdicts: free near the vehicle, in the scan's wall, outside of the fence.
POSES = ((0.0, Verdict.FREE), (6.0, Verdict.COLLISION), (60.0, Verdict.COLLISION))


# ---- the publishing process


def publish() -> None:
    """Publish all sources at their rates until the process is interrupted."""
    rclpy.init()
    node = rclpy.create_node("soak_sources")
    rng = np.random.default_rng(1)
    messages: dict[str, Any] = {
        "scan": [_scan(rng) for _ in range(4)],
        "cloud": [_cloud(rng) for _ in range(2)],
        "grid": [_grid(rng)],
        "boxes": [_boxes(rng)],
    }
    sent: Counter[str] = Counter()
    publishers = {
        name: node.create_publisher(type(each[0]), f"/{name}", 10)
        for name, each in messages.items()
    }

    def send(name: str) -> None:
        if not publishers[name].get_subscription_count():
            return  # so that each message that is sent can be received
        message = messages[name][sent[name] % len(messages[name])]
        sent[name] += 1
        message.header.stamp = node.get_clock().now().to_msg()
        if name == "boxes":
            message.sequence = sent[name]
        publishers[name].publish(message)

    for name, rate in RATES.items():
        node.create_timer(1.0 / rate, lambda name=name: send(name))
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    fence = node.create_publisher(ObstacleArray, "/fence", latched)
    outline = _listed([[-50.0, -50.0, 50.0, -50.0, 50.0, 50.0, -50.0, 50.0]], ObstacleArray.REGION)
    outline.header.stamp = node.get_clock().now().to_msg()
    fence.publish(outline)
    spin(node)
    print(json.dumps(sent), flush=True)


def _scan(rng: np.random.Generator) -> LaserScan:
    message = LaserScan(angle_min=-np.pi, angle_increment=2.0 * np.pi / BEAMS)
    message.angle_max = message.angle_min + (BEAMS - 1) * message.angle_increment
    message.range_min, message.range_max = 0.1, 30.0
    ranges = 6.0 + 0.3 * np.sin(np.arange(BEAMS) / 40.0) + rng.normal(0.0, 0.01, BEAMS)
    message.ranges = array("f", ranges.astype(np.float32).tobytes())
    message.header.frame_id = "base_link"
    return message


def _cloud(rng: np.random.Generator) -> PointCloud2:
    angle = rng.uniform(-np.pi, np.pi, POINTS)
    reach = 8.0 + rng.normal(0.0, 0.1, POINTS)
    height = rng.uniform(-0.5, 3.0, POINTS)
    xyz = np.c_[reach * np.cos(angle), reach * np.sin(angle), height, height].astype(np.float32)
    message = PointCloud2(height=1, width=POINTS, point_step=16, row_step=16 * POINTS)
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate("xyz")
    ]
    message.is_dense = True
    message.data = array("B", xyz.tobytes())
    message.header.frame_id = "base_link"
    return message


def _grid(rng: np.random.Generator) -> OccupancyGrid:
    cells = np.zeros((SIDE, SIDE), np.int8)
    for row, column in rng.integers(0, SIDE - 20, (150, 2)):
        cells[row : row + rng.integers(2, 20), column : column + rng.integers(2, 20)] = 100
    middle = SIDE // 2
    cells[middle - 80 : middle + 80, middle - 80 : middle + 80] = 0
    message = OccupancyGrid()
    message.info.resolution, message.info.width, message.info.height = 0.05, SIDE, SIDE
    message.info.origin.position.x = message.info.origin.position.y = -0.025 * SIDE
    message.data = array("b", cells.tobytes())
    message.header.frame_id = "base_link"
    return message


def _boxes(rng: np.random.Generator) -> ObstacleArray:
    angle = rng.uniform(-np.pi, np.pi, OBSTACLES)
    reach = rng.uniform(12.0, 40.0, OBSTACLES)
    at = np.c_[reach * np.cos(angle), reach * np.sin(angle)]
    corners = np.array([[1.0, 0.5], [-1.0, 0.5], [-1.0, -0.5], [1.0, -0.5]])
    return _listed([(each + corners).ravel().tolist() for each in at])


def _listed(outlines: list[list[float]], kind: int = ObstacleArray.CONVEX) -> ObstacleArray:
    message = ObstacleArray(source="soak", ids=list(range(len(outlines))))
    message.kinds = [kind] * len(outlines)
    message.offsets = np.cumsum([0, *(len(each) // 2 for each in outlines)]).tolist()
    message.xy = array("d", [value for each in outlines for value in each])
    message.header.frame_id = "base_link"
    return message


# ---- this process


class Asker:
    """Sends requests at a rate, and receives replies, heartbeats and diagnostics."""

    def __init__(self, rate: float) -> None:
        self.node = rclpy.create_node("soak_client")
        self.client = self.node.create_client(
            Collide, f"/{SERVER}/collide", qos_profile=SERVICE_QOS
        )
        self.waiting: dict[Any, tuple[float, Verdict]] = {}
        self.times: deque[float] = deque(maxlen=400_000)
        self.asked = self.answered = self.put_off = 0
        self.wrong: Counter[str] = Counter()
        self.counters: list[int] = []
        self.senders: dict[str, dict[str, str]] = {}
        self.node.create_subscription(CollisionState, f"/{SERVER}/state", self._state, 10)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._diagnostics, 10)
        self._timer = self.node.create_timer(1.0 / rate, self._ask)
        self.is_asking = False

    def _ask(self) -> None:
        if not self.is_asking:
            return
        if len(self.waiting) >= MAX_OUTSTANDING:
            self.put_off += 1  # the queue of the server must not overflow
            return
        x, wanted = POSES[self.asked % len(POSES)]
        request = Collide.Request()
        request.pose.header.frame_id = "base_link"
        request.pose.pose.position.x = x
        future = self.client.call_async(request)
        self.asked += 1
        self.waiting[future] = time.perf_counter(), wanted
        future.add_done_callback(self._reply)

    def _reply(self, future: Any) -> None:
        begin, wanted = self.waiting.pop(future)
        self.times.append(time.perf_counter() - begin)
        self.answered += 1
        found = future.result().verdict
        if (found.verdict, found.status) != (wanted, Status.SUCCESS):
            text = f"{Verdict(found.verdict).name} instead of {wanted.name}: "
            text += re.sub(r"\d+\.\d+", "...", found.message)
            self.wrong[text] += 1

    def _state(self, message: CollisionState) -> None:
        self.counters.append(message.counter)

    def _diagnostics(self, message: DiagnosticArray) -> None:
        for each in message.status:
            self.senders[each.name] = {pair.key: pair.value for pair in each.values}


def run(minutes: float, rate: float) -> dict[str, Any]:
    """Run all three processes; return what was measured."""
    with started(server(PARAMETERS), [__file__, "--publish"]) as (node, sources):
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        asker = Asker(rate)
        executor = executor_of(asker.node)

        def spin_for(seconds: float) -> None:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                executor.spin_once(timeout_sec=0.1)

        asker.client.wait_for_service(30.0)
        spin_for(WARM_UP / 2)
        asker.is_asking = True
        spin_for(WARM_UP / 2)
        asker.times.clear()
        asker.wrong.clear()
        asker.put_off = 0
        asked, counters = asker.asked, len(asker.counters)
        memory = [_memory(node.pid)]
        cpu, begin = _cpu(node.pid), time.monotonic()
        while time.monotonic() - begin < 60.0 * minutes:
            spin_for(min(10.0, 60.0 * minutes))
            memory.append(_memory(node.pid))
        passed = time.monotonic() - begin
        used = (_cpu(node.pid) - cpu) / passed
        asker.is_asking = False
        spin_for(2.0)
        sources.send_signal(signal.SIGINT)
        sent = json.loads(sources.communicate(timeout=20.0)[0].splitlines()[-1])
        spin_for(2.5)  # the last diagnostics
    times = np.array(asker.times) * 1e3
    beats = asker.counters[counters:]
    result = {
        "minutes": passed / 60.0,
        "requests": asker.asked - asked,
        "put_off": asker.put_off,
        "unanswered": len(asker.waiting),
        "wrong": dict(asker.wrong),
        "reply_ms": {
            f"p{q}": round(float(np.percentile(times, q)), 3) for q in (50, 99, 99.9, 100)
        },
        "heartbeats_lost": beats[-1] - beats[0] + 1 - len(beats),
        "sent": sent,
        "received": _received(asker.senders),
        "memory_mb": [round(each, 1) for each in memory],
        "cpu": round(used, 3),
    }
    asker.node.destroy_node()
    rclpy.shutdown()
    return result


def _received(senders: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return the counts of messages in the diagnostics, by the name of the source."""
    found = {}
    for name, values in senders.items():
        source = name.split(": ")[1]
        if source in TYPES and "received" in values:
            found[source] = {key: int(values[key]) for key in ("received", "dropped")}
    return found


def failures(result: dict[str, Any]) -> list[str]:
    """Return what is not as it must be."""
    found = [f"{count} times {text}" for text, count in result["wrong"].items()]
    lost = ("put_off", "unanswered", "heartbeats_lost")
    found += [f"{name}: {result[name]}" for name in lost if result[name]]
    for name, count in result["sent"].items():
        got = result["received"].get(name, {"received": 0, "dropped": 0})
        # A message may be sent while only one end knows of the other, or after the last count.
        if count - got["received"] > RATES[name] or got["dropped"]:
            found.append(f"{name}: {count} sent, {got}")
    memory = result["memory_mb"]
    if memory[-1] - memory[0] > GROWTH:
        found.append(f"the memory grew from {memory[0]} MiB to {memory[-1]} MiB")
    return found


def _memory(process: int) -> float:
    """Return the resident memory of a process [MiB]."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024.0


def _cpu(process: int) -> float:
    """Return the CPU time of a process [s]."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Run, print the result, and return whether it failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("minutes", nargs="?", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=200.0, help="requests per second")
    parser.add_argument("--output", type=Path, help="file for the result, JSON")
    parser.add_argument("--publish", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.publish:
        publish()
        return 0
    result = run(arguments.minutes, arguments.rate)
    found = failures(result)
    text = json.dumps({**result, "failures": found}, indent=1)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())

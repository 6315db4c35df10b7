# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM end the process in every state of its lifecycle: exit code 0, no abort.

`GJK_STOPS` is the number of stops of an active server by each signal; of servers in another state,
an eighth. A thread that outlives the interpreter aborts one process in ten or so:
``GJK_STOPS=200 GJK_TEST_LIMIT=4000 ./dev test ros -k test_stops`` is the long form.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

import rclpy
from ament_index_python import get_package_prefix
from geometry_msgs.msg import TransformStamped
from gjk_collision.msg import CollisionState
from lifecycle_msgs.srv import ChangeState
from rclpy.qos import QoSProfile
from server import BOX, Bench, Server, said

from gjk_collision.ros.node import CollisionServer, spin
from gjk_collision.verdict import Status, Verdict

STOPS = int(os.environ.get("GJK_STOPS", "4"))
EIGHTH = -(-STOPS // 8)
AT_ONCE = 4
HAS_TF = importlib.util.find_spec("tf2_msgs") is not None
NOT_ACTIVE = (Verdict.UNKNOWN, Status.NOT_ACTIVE)
EXECUTABLE = "/lib/gjk_collision/collision_server"
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONSAFEPATH": "1", **variables},
        capture_output=True,
        text=True,
        timeout=50.0,
        check=False,
    )


class World(Bench):
    """Publishes what servers need to answer FREE, and receives the heartbeats of all of them."""

    def __init__(self) -> None:
        super().__init__("stopped")
        self.heard: dict[str, CollisionState] = {}
        self.publish()
        if HAS_TF:
            from tf2_msgs.msg import TFMessage

            self.kind = TFMessage
            self.moving = self.node.create_publisher(TFMessage, "/tf", 100)
            self.node.create_timer(0.01, self.move)

    def move(self) -> None:
        message = TransformStamped(child_frame_id="base_link")
        message.header.frame_id = "odom"
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.transform.translation.x = 50.0
        self.moving.publish(self.kind(transforms=[message]))

    def listen(self, name: str) -> None:
        def receive(state: CollisionState) -> None:
            self.heard[name] = state

        self.node.create_subscription(
            CollisionState, f"/{name}/state", receive, QoSProfile(depth=1)
        )

    def until_state(self, name: str, verdict: tuple[Verdict, Status], text: str = "") -> None:
        def is_there() -> bool:
            state = self.heard.get(name)
            return state is not None and said(state) == verdict and text in state.verdict.message

        self.until(is_there, f"{name}: {verdict} {text}")

    def request(self, name: str, label: str) -> None:
        client = self.node.create_client(ChangeState, f"/{name}/change_state")
        self.until(client.service_is_ready, f"{name}/change_state")
        request = ChangeState.Request()
        request.transition.label = label
        client.call_async(request)


# Parameters, transition asked for, and the heartbeat that shows that the state is reached.
ACTIVE = {
    "base_frame": "base_link" if HAS_TF else "odom"
}  # without tf2_msgs there is no other frame
STATES: dict[str, tuple[dict[str, Any], str, tuple[Verdict, Status], str]] = {
    "active": (ACTIVE, "", (Verdict.FREE if HAS_TF else Verdict.COLLISION, Status.SUCCESS), ""),
    "unconfigured": ({"autostart": False}, "", NOT_ACTIVE, "not configured"),
    "inactive": ({"autostart": False}, "configure", NOT_ACTIVE, "inactive"),
    "finalized": ({"autostart": False}, "shutdown", NOT_ACTIVE, "shut down"),
}


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


@pytest.mark.parametrize("how", SIGNALS, ids=lambda how: how.name)
@pytest.mark.parametrize("state", STATES)
def test_stops(state: str, how: signal.Signals, world: World) -> None:
    """Several at once, because a busy machine shows what an idle one does not."""
    parameters, transition, verdict, text = STATES[state]
    count = STOPS if state == "active" else EIGHTH
    found: list[tuple[int, str]] = []
    for begin in range(0, count, AT_ONCE):
        names = [f"{state}_{i}" for i in range(begin, min(begin + AT_ONCE, count))]
        servers = [Server(name, footprint=BOX, time_budget=1.0, **parameters) for name in names]
        for name in names:
            world.listen(name)
            if transition:
                world.request(name, transition)
        for name in names:
            world.until_state(name, verdict, text)
        found += stopped(servers, how)
    assert_ended_well(found)


@pytest.mark.parametrize("how", SIGNALS, ids=lambda how: how.name)
@pytest.mark.parametrize("by_itself", [True, False], ids=["autostart", "asked"])
def test_stops_while_configuring(by_itself: bool, how: signal.Signals, world: World) -> None:
    """Many sources make it last; the signal comes at a random moment of it."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    many = [f"source_{i}" for i in range(100)]
    found: list[tuple[int, str]] = []
    for i in range(EIGHTH):
        name = f"configuring_{i}"
        server = Server(name, footprint=BOX, obstacle_sources=many, autostart=by_itself)
        if by_itself:
            world.until(lambda name=name: name in world.node.get_node_names(), name)
        else:
            world.request(name, "configure")
        wait = time.monotonic() + moments.uniform(0.0, 0.2)
        world.until(lambda wait=wait: time.monotonic() > wait, "time")
        found += stopped([server], how)
    assert_ended_well(found)
    if EIGHTH >= 8:
        assert any("configured, config hash" not in log for _, log in found), "always too late"


def test_second_interrupt_while_it_ends(world: World) -> None:
    """Ctrl-C comes from the terminal and from launch, some milliseconds apart."""
    found: list[tuple[int, str]] = []
    for begin in range(0, max(EIGHTH, AT_ONCE), AT_ONCE):
        names = [f"twice_{i}" for i in range(begin, begin + AT_ONCE)]
        servers = [Server(name, footprint=BOX, autostart=False) for name in names]
        for name in names:
            world.listen(name)
            world.until_state(name, NOT_ACTIVE)
        found += stopped(servers, signal.SIGINT, again=True)
    assert_ended_well(found)


def test_signal_before_the_executor_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the constructor leaves behind is silent when Python throws it away."""
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    context = rclpy.Context()
    context.init(args=[])
    server = CollisionServer(context=context)
    context.shutdown()
    with pytest.raises(RuntimeError, match="context"):
        spin(server)
    del server
    gc.collect()
    assert not [each.err_msg or each.exc_value for each in ignored]


SIGNALLING = """
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {signal})
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("how", SIGNALS, ids=lambda how: how.name)
@pytest.mark.parametrize(
    "module",
    ["gjk_collision", "numpy", "rclpy", "gjk_collision.msg", "gjk_collision.ros.services"],
)
def test_signal_during_the_imports(module: str, how: signal.Signals, tmp_path: Path) -> None:
    """The process sends itself the signal when it begins to import the module."""
    text = SIGNALLING.format(module=module, signal=int(how))
    (tmp_path / "sitecustomize.py").write_text(text)
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    program = get_package_prefix("gjk_collision") + EXECUTABLE
    done = python(program, PYTHONPATH=os.pathsep.join(paths))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("how", SIGNALS, ids=lambda how: how.name)
@pytest.mark.parametrize("where", ["init", "try_shutdown"])
def test_signal_before_rclpy_handles_it_and_after(where: str, how: signal.Signals) -> None:
    """Here the handlers are those of `main`: rclpy has none yet, or none any more."""
    code = f"""
import os, sys, rclpy
from gjk_collision.ros import node
original = rclpy.{where}
def signalling(*arguments, **options):
    if {where == "init"}:
        os.kill(os.getpid(), {int(how)})
    original(*arguments, **options)
    os.kill(os.getpid(), {int(how)})
rclpy.{where} = signalling
node.spin = lambda server: None
sys.exit(node.main([]))
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_stop_that_takes_too_long() -> None:
    """As in a deadlock of the middleware: in C, with the lock of the interpreter held."""
    code = """
import ctypes, sys, rclpy
from gjk_collision.ros import node
node.STOP_LIMIT = 1.0
rclpy.try_shutdown = lambda: ctypes.PyDLL(None).pause()
node._run = lambda arguments: None
sys.exit(node.main([]) or 3)
"""
    done = python("-c", code)
    assert done.returncode == 0
    assert "Timeout" in done.stderr
    assert "in main" in done.stderr


def stopped(
    servers: list[Server], how: signal.Signals, *, again: bool = False
) -> list[tuple[int, str]]:
    """Exit codes and logs of processes that are signalled together."""
    for each in servers:
        each.process.send_signal(how)
    for each in servers if again else ():
        time.sleep(0.01)
        each.process.send_signal(how)
    try:
        codes = [each.process.wait(60.0) for each in servers]
    finally:
        for each in servers:
            each.process.kill()  # without effect on one that has ended
    return [(code, each.log) for code, each in zip(codes, servers, strict=True)]


def assert_ended_well(found: list[tuple[int, str]]) -> None:
    wrong = [(code, log) for code, log in found if code != 0 or "Traceback" in log]
    assert not wrong, (
        f"{len(wrong)} of {len(found)}, the first with code {wrong[0][0]}: {wrong[0][1]}"
    )

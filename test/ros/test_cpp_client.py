# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The client and the mirror in C++: the example planner, built and run beside a server."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from consumers import Consumer, needs_cmake, run

pytest.importorskip("rclpy", reason="rclpy is not installed")

from gjk_collision.verdict import Status, Verdict

pytestmark = needs_cmake

ROOT = Path(__file__).parents[2]
# Further options of CMake, if this machine's installation of rclcpp needs any.
OPTIONS = os.environ.get("GJK_RCLCPP_CMAKE_OPTIONS", "").split()


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options of CMake; skip where rclcpp is not installed."""
    folder = tmp_path_factory.mktemp("probe")
    options = [f"-DPython3_EXECUTABLE={sys.executable}", *OPTIONS]
    probe = Consumer(folder / "probe", 'find_package(rclcpp QUIET)\nmessage("is ${rclcpp_FOUND}")')
    found = probe.configure(*options)
    if "is 1" not in found.stdout:
        pytest.skip("rclcpp is not installed")
    return options


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory, options: list[str]) -> Path:
    """Build the example."""
    build = tmp_path_factory.mktemp("cpp") / "build"
    for command in (
        ("cmake", "-S", ROOT / "examples/cpp_planner", "-B", build, *options),
        ("cmake", "--build", build),
    ):
        done = run(*command)
        assert done.returncode == 0, done.stdout
    return build / "planner"


@pytest.fixture(scope="module")
def live_test(tmp_path_factory: pytest.TempPathFactory, options: list[str]) -> Path:
    """Build src_cpp/ros/live_test.cpp."""
    cmake = f"""
find_package(gjk_collision REQUIRED COMPONENTS client mirror)
add_executable(main "{ROOT}/src_cpp/ros/live_test.cpp")
target_link_libraries(main PRIVATE gjk_collision::client gjk_collision::mirror)
"""
    consumer = Consumer(tmp_path_factory.mktemp("live") / "c", cmake)
    consumer.make(*options)
    return consumer.build / "main"


class Live:
    """The process of live_test.cpp, with a mirror of one server."""

    def __init__(self, program: Path, bench: Any, server: str) -> None:
        self.bench = bench
        self.process = subprocess.Popen(
            [program, "--ros-args", "-p", f"server:={server}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()

    def send(self, command: str) -> None:
        """Write a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def line(self) -> str:
        """Spin until the process has written a line, and return it."""

        def is_written() -> bool:
            assert self.process.poll() is None, "the process has ended"
            return not self.lines.empty()

        self.bench.until(is_written, "a line of the process")
        return self.lines.get().strip()

    def results(self, command: str = "") -> set[tuple[bool, Verdict, Status]]:
        """Return all different results of a command, or of the one that was sent last."""
        if command:
            self.send(command)
        found = json.loads(self.line())
        return {(free, Verdict(verdict), Status(status)) for free, verdict, status in found}

    def until(self, verdict: Verdict, status: Status) -> None:
        """Ask until this is every answer."""
        wanted = {(verdict is Verdict.FREE, verdict, status)}
        self.bench.until(lambda: self.results("ask") == wanted, f"{verdict.name} {status.name}")


@pytest.fixture
def live(live_test: Path, start: Any) -> Iterator[Callable[..., tuple[Any, Any, Live]]]:
    """Start a server, with a process of live_test.cpp beside it; both end with the test."""
    started: list[Live] = []

    def make(name: str, **parameters: Any) -> tuple[Any, Any, Live]:
        server, bench = start(name, **parameters)
        started.append(Live(live_test, bench, name))
        return server, bench, started[-1]

    yield make
    for each in started:
        each.close()


def test_replies_that_are_not_whole_are_not_free_in_cpp(tmp_path: Path) -> None:
    # The headers of the messages are enough for this one.
    cmake = f"""
find_package(GTest REQUIRED)
find_package(gjk_collision REQUIRED COMPONENTS interfaces)
add_executable(main "{ROOT}/src_cpp/ros/reply_test.cpp")
target_compile_features(main PRIVATE cxx_std_20)
foreach(library IN LISTS gjk_collision_TARGETS)
  target_include_directories(main SYSTEM PRIVATE
    $<TARGET_PROPERTY:${{library}},INTERFACE_INCLUDE_DIRECTORIES>)
endforeach()
target_link_libraries(main PRIVATE gjk_collision::gjk GTest::gtest_main)
"""
    consumer = Consumer(tmp_path / "c", cmake)
    consumer.make(f"-DPython3_EXECUTABLE={sys.executable}")
    done = run(consumer.build / "main")
    assert done.returncode == 0, done.stdout


def test_mirror_and_client_agree_in_cpp(planner: Path, start: Any) -> None:
    _, bench = start("cpp")
    bench.publish(lambda: bench.array([(6.0, 0.0), (0.0, 6.0)]))
    bench.until_status(Verdict.FREE, Status.SUCCESS)
    command = [planner, "--ros-args", "-p", "frame:=odom", "-p", "server:=cpp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        bench.until(lambda: process.poll() is not None, "the planner ends")
        assert process.stdout is not None
        result = json.loads(process.stdout.read())
    assert process.returncode == 0
    assert result["compared"] > 0
    assert result["different"] == 0
    assert 0 < result["free"] < result["ways"]  # two ways lead through an obstacle


def test_an_answer_is_judged_when_it_is_returned_in_cpp(live: Any) -> None:
    """The node is killed during computations, which then last until its data is too old."""
    server, bench, process = live("cpp_killed")
    bench.publish()
    process.until(Verdict.FREE, Status.SUCCESS)
    process.send("held")
    assert process.line() == "computing"
    server.stop(signal.SIGKILL)
    process.send("killed")
    assert process.results() == {(False, Verdict.UNKNOWN, Status.UNDEFINED)}


def test_the_state_is_said_before_errors_of_the_question_in_cpp(live: Any) -> None:
    _, bench, process = live("cpp_inactive", autostart=False)
    process.until(Verdict.UNKNOWN, Status.NOT_ACTIVE)
    assert process.results("invalid") == {(False, Verdict.UNKNOWN, Status.NOT_ACTIVE)}
    assert bench.transition("configure")
    assert bench.transition("activate")
    bench.publish()
    process.until(Verdict.FREE, Status.SUCCESS)
    statuses = {Status.NON_FINITE, Status.INVALID_INPUT}
    assert process.results("invalid") == {(False, Verdict.UNKNOWN, each) for each in statuses}


def test_a_call_that_returns_late_is_not_free_in_cpp(live: Any) -> None:
    """The reply comes in time, but the thread that waits for it is stopped until later."""
    _, _, process = live("cpp_late")
    assert process.results("late") == {(False, Verdict.UNKNOWN, Status.UNDEFINED)}

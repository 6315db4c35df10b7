# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server and other processes of a benchmark with ROS, in a domain of their own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

SERVER = "collision_server"


def server(parameters: dict[str, Any], *arguments: str) -> list[str]:
    """Return the command of a collision server, for `started`."""
    words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    return ["-m", "gjk_collision.ros.node", "--ros-args", *words, *arguments]


@contextlib.contextmanager
def started(*commands: list[str]) -> Iterator[list[subprocess.Popen[str]]]:
    """Run Python programs; their output is for the caller. At the end, they are ended."""
    running = [
        subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "PYTHONSAFEPATH": "1" if command[0] == "-m" else ""},
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
            _wait(each)


def _wait(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


def executor_of(node: Any) -> SingleThreadedExecutor:
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    return executor


def spin(node: Any, turn: Callable[[SingleThreadedExecutor], None] | None = None) -> None:
    """Spin until the process is asked to end, or call `turn` with the executor instead."""
    executor = executor_of(node)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        while rclpy.ok():
            turn(executor) if turn else executor.spin_once(0.1)

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The client and the mirror in C++: the example planner, built and run beside a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
def planner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the example; skip where rclcpp is not installed."""
    folder = tmp_path_factory.mktemp("cpp")
    options = [f"-DPython3_EXECUTABLE={sys.executable}", *OPTIONS]
    probe = Consumer(folder / "probe", 'find_package(rclcpp QUIET)\nmessage("is ${rclcpp_FOUND}")')
    found = probe.configure(*options)
    if "is 1" not in found.stdout:
        pytest.skip("rclcpp is not installed")
    build = folder / "build"
    for command in (
        ("cmake", "-S", ROOT / "examples/cpp_planner", "-B", build, *options),
        ("cmake", "--build", build),
    ):
        done = run(*command)
        assert done.returncode == 0, done.stdout
    return build / "planner"


@pytest.mark.timeout(600)
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
target_link_libraries(main PRIVATE GTest::gtest_main)
"""
    consumer = Consumer(tmp_path / "c", cmake)
    consumer.make(f"-DPython3_EXECUTABLE={sys.executable}")
    done = run(consumer.build / "main")
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(900)  # rclcpp compiles slowly
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

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The client and the mirror in C++, beside the Python client: rows for the table of node.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).parent / "cpp_client"
# Further options of CMake, if this machine's installation of rclcpp needs any.
OPTIONS = os.environ.get("GJK_RCLCPP_CMAKE_OPTIONS", "").split()
NOT_MEASURED = "- C++ client: not measured, rclcpp is not installed"


def run(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a command, and return its result with stdout and stderr in `stdout`."""
    return subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def build(folder: Path) -> Path | None:
    """Build the program in a folder. Compiling takes about a minute the first time.

    Returns
    -------
    Path or None
        The program; None if rclcpp is not installed.

    Raises
    ------
    RuntimeError
        If the program does not build. The text is the output of CMake.
    """
    release, python = "-DCMAKE_BUILD_TYPE=Release", f"-DPython3_EXECUTABLE={sys.executable}"
    found = run("cmake", "-S", SOURCE, "-B", folder, release, python, *OPTIONS)
    if "rclcpp_FOUND is 1" not in found.stdout:
        return None
    built = found if found.returncode else run("cmake", "--build", folder)
    if built.returncode:
        raise RuntimeError(f"{SOURCE.name} does not build:\n{built.stdout}")
    return folder / "cpp_client"


def text_of(times: Mapping[str, float]) -> str:
    digits = 0 if times["median"] >= 100 else 1
    median, late, latest = (f"{times[key]:.{digits}f}" for key in ("median", "p99", "p99.9"))
    return f"{median} ({late}; {latest})"


def rows(
    server: str,
    calls: int,
    folder: Path,
    python: Mapping[str, str] | None = None,
    frame: str = "odom",
) -> list[str]:
    """Ask a running server from C++; return lines of Markdown.

    Parameters
    ----------
    server
        Name of its node. Its obstacles must not become too old in the seconds of this run, nor
        in the minute of compiling: call `build` before.
    calls
        Number of calls of each question.
    folder
        Folder in which the program is built.
    python
        Times of the Python client by question ("1 pose", "15 poses", ...), as text.
    frame
        Check frame of the server.

    Raises
    ------
    RuntimeError
        If the program does not build, or if answers are missing or differ.
    """
    program = build(folder)
    if program is None:
        return [NOT_MEASURED]
    parameters = (f"server:={server}", f"frame:={frame}", f"calls:={calls}")
    words = [word for each in parameters for word in ("-p", each)]
    done = subprocess.run(
        [program, "--ros-args", *words, "--log-level", "error"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{program.name} ended with {done.returncode}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    lines = [
        "| question | Python client | C++ client | C++ mirror | C++ scene | mirror / scene |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for each in result["questions"]:
        name, ratio = each["question"], each["mirror"]["median"] / each["scene"]["median"]
        times = " | ".join(text_of(each[column]) for column in ("client", "mirror", "scene"))
        lines.append(f"| {name} | {(python or {}).get(name, '')} | {times} | {ratio:.2f} |")
    return [
        *lines,
        "",
        f"- C++: median (99 %; 99.9 %) of {result['calls']} calls; {result['compared']} answers "
        "compared, all the same",
    ]

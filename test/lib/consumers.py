# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Small CMake projects that use an installation of the package."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

needs_cmake = pytest.mark.skipif(
    not (shutil.which("cmake") and shutil.which("c++")),
    reason="cmake and a C++ compiler are needed",
)

# The kernel that ./dev test lib has compiled already; empty: compile it.
KERNEL_OBJECT = os.environ.get("GJK_KERNEL_OBJECT", "")

# Distance 2 between a square and a triangle, bounded from below.
USES_KERNEL = """
#include <gjk/gjk.hpp>
int main() {
  const double x[] = {0, 1, 1, 0}, y[] = {0, 0, 1, 1}, far_x[] = {3, 4, 4};
  const auto square = gjk::Convex::view(x, y, 4), triangle = gjk::Convex::view(far_x, y, 3);
  const double lower = gjk::distance(square, triangle).lower;
  return lower <= 2.0 && lower > 1.999 ? 0 : 1;
}
"""


def run(*command: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command, and return its result with stdout and stderr in `stdout`."""
    return subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=env,
        check=False,
    )


def without_ros() -> dict[str, str]:
    """Return the environment without what makes CMake find ROS."""
    ros = ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "PATH")
    env = {name: value for name, value in os.environ.items() if name not in ros}
    # find_package also searches the parent of each folder of PATH.
    env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    return env


class Consumer:
    """A CMake project in `folder`."""

    def __init__(
        self, folder: Path, cmake: str, *, name: str = "consumer", **sources: str
    ) -> None:
        self.folder = folder
        self.build = folder / "build"
        folder.mkdir(parents=True)
        head = "cmake_minimum_required(VERSION 3.22)\nproject(consumer LANGUAGES C CXX)\n"
        (folder / "CMakeLists.txt").write_text(head + cmake)
        for source, text in sources.items():
            (folder / f"{source}.cpp").write_text(text)

    def configure(
        self, *options: object, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Configure the project with these options of CMake."""
        return run(
            "cmake", "-S", self.folder, "-B", self.build,
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options,
            env=env,
        )  # fmt: skip

    def make(self, *options: object, env: dict[str, str] | None = None) -> None:
        """Configure and build the project, and fail with its output if that fails."""
        configured = self.configure(*options, env=env)
        assert configured.returncode == 0, configured.stdout
        built = run("cmake", "--build", self.build, env=env)
        assert built.returncode == 0, built.stdout

    def compile_command(self, source: str) -> list[str]:
        """Return the command that compiles this source, in words."""
        [command] = [
            entry["command"]
            for entry in json.loads((self.build / "compile_commands.json").read_text())
            if Path(entry["file"]).name == f"{source}.cpp"
        ]
        return shlex.split(command)

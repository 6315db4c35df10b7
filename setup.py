# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""pip's build: the library with its kernel, without ROS.

CMake compiles; src_cpp/CMakeLists.txt holds every compile fact, package.xml the version, the
maintainer and the addresses. A compiled module is used if the variable GJK_PYTHON_MODULE names it.
"""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PACKAGE = ET.parse(ROOT / "package.xml")
MAINTAINER = PACKAGE.getroot().find("maintainer")


class CMakeBuild(build_ext):
    """Build the extension module by CMake and Ninja."""

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        self.build_module(target)
        # The stub for type checkers, beside the module.
        package = target.parent.parent
        stubgen = [sys.executable, "-m", "pybind11_stubgen", "--exit-code", "-o", ".", ext.name]
        # pip finds the packages of its build environment by the variable, too.
        paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
        path = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        subprocess.run(stubgen, check=True, env=path, cwd=package)

    def build_module(self, target: Path) -> None:
        if module := os.environ.get("GJK_PYTHON_MODULE"):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(module, target)
            return
        build = Path(self.build_temp).resolve()
        # pip installs Ninja and pybind11 in a temporary folder, whose path CMake stores in its
        # cache. Without the next line, a second `pip install .` in the same clone fails.
        (build / "CMakeCache.txt").unlink(missing_ok=True)
        configure = [
            "cmake", "-S", str(ROOT / "src_cpp"), "-B", str(build), "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DGJK_PYTHON=ON",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={target.parent}",
        ]  # fmt: skip
        subprocess.run(configure, check=True)
        subprocess.run(["cmake", "--build", str(build), "--target", "_core"], check=True)


class CopyInterfaces(build_py):
    """Take the message and service definitions along: replay reads bags by them."""

    def run(self) -> None:
        super().run()
        for kind in ("msg", "srv"):
            target = Path(self.build_lib, "gjk_collision", "interfaces", kind)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(ROOT / kind, target)


setup(
    version=PACKAGE.findtext("version"),
    maintainer=MAINTAINER.text,
    maintainer_email=MAINTAINER.get("email"),
    project_urls={url.get("type"): url.text for url in PACKAGE.iter("url")},
    ext_modules=[Extension("gjk_collision._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild, "build_py": CopyInterfaces},
)

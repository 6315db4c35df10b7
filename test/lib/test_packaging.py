# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The C++ kernel in other projects, its examples, and the C++ blocks of the pages.

Projects find it by find_package or add_subdirectory, or use the headers without CMake.
"""

from __future__ import annotations

import platform
import re
import subprocess
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest
from consumers import KERNEL_OBJECT, USES_KERNEL, Consumer, needs_cmake, run, without_ros
from pages import BLOCKS, PAGES

ROOT = Path(__file__).parents[2]
pytestmark = needs_cmake

VERSION = ET.parse(ROOT / "package.xml").findtext("version") or ""
MAJOR, MINOR, PATCH = map(int, VERSION.split("."))
FIND = "find_package(gjk_collision {} REQUIRED)\nadd_executable(main main.cpp)\n"
LINK = "target_link_libraries(main PRIVATE gjk_collision::gjk)\n"
# One program with the compiled kernel, the other with the headers alone.
BOTH = f"""
target_link_libraries(main PRIVATE gjk_collision::kernel)
add_executable(headers main.cpp)
{LINK.replace("main", "headers")}"""
KERNEL = ROOT / "src_cpp/include"
# One instruction set, and less optimisation, take less time to compile.
FAST = (
    "-DCMAKE_BUILD_TYPE=Debug",
    "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
    "-DCMAKE_CXX_FLAGS=-DGJK_SCALAR_ONLY",
)
INCLUDE = f"-I{KERNEL}"
MULTIPLIES = "double f(double a, double b, double c) { return a * b - c; }\nint main() {}\n"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the kernel alone."""
    folder = tmp_path_factory.mktemp("kernel")
    options = *FAST, f"-DGJK_KERNEL_OBJECT={KERNEL_OBJECT}"
    for command in (
        ("cmake", "-S", ROOT / "src_cpp", "-B", folder / "build", *options),
        ("cmake", "--build", folder / "build"),
        ("cmake", "--install", folder / "build", "--prefix", folder / "prefix"),
    ):
        done = run(*command, env=without_ros())
        assert done.returncode == 0, done.stdout
    return folder / "prefix"


def test_the_kernel_is_found_in_its_own_installation(prefix: Path, tmp_path: Path) -> None:
    consumer = Consumer(tmp_path / "c", FIND.format(f"{MAJOR}.{MINOR}") + BOTH, main=USES_KERNEL)
    consumer.make(f"-DCMAKE_PREFIX_PATH={prefix}", env=without_ros())
    assert run(consumer.build / "main").returncode == 0
    assert run(consumer.build / "headers").returncode == 0


def test_the_kernel_is_a_subdirectory(prefix: Path, tmp_path: Path) -> None:
    """It is compiled only if a target links it, and installs nothing if that is not wanted."""
    add = f"add_subdirectory({ROOT}/src_cpp gjk)\nadd_executable(main main.cpp)\n"
    link = LINK.replace("::gjk", "::kernel")
    consumer = Consumer(tmp_path / "c", "set(GJK_INSTALL OFF)\n" + add + link, main=USES_KERNEL)
    compiled_here = prefix.parent / "build/CMakeFiles/gjk_kernel.dir/kernel/kernel.cpp.o"
    object_file = KERNEL_OBJECT or compiled_here
    consumer.make(f"-DGJK_KERNEL_OBJECT={object_file}", env=without_ros())
    assert run(consumer.build / "main").returncode == 0
    assert "-DGJK_COMPILED" in consumer.compile_command("main")
    installed = run("cmake", "--install", consumer.build, "--prefix", tmp_path / "installed")
    assert installed.returncode == 0 and not (tmp_path / "installed").exists()


PAGES_OF_CPP = [page for page in PAGES if any(each.kind == "cpp" for each in BLOCKS[page])]


@pytest.mark.parametrize("page", PAGES_OF_CPP, ids=lambda page: page.name)
def test_the_blocks_of_a_page_print_what_it_says(page: Path, prefix: Path, tmp_path: Path) -> None:
    """They are one program. A comment behind the end of a line of output is that line."""
    chosen = [each.text for each in BLOCKS[page] if each.kind == "cpp" and not each.not_run]
    include = re.compile(r"^#include .*$", re.MULTILINE)
    includes = "\n".join(include.findall("".join(chosen)))
    bodies = "".join(f"{{\n{include.sub('', text)}}}\n" for text in chosen)
    main = f"{includes}\nint main() {{\n{bodies}}}\n"
    cmake = FIND.format("") + LINK.replace("::gjk", "::kernel")
    consumer = Consumer(tmp_path / "c", cmake, main=main)
    consumer.make(f"-DCMAKE_PREFIX_PATH={prefix}", env=without_ros())
    done = run(consumer.build / "main")
    assert done.returncode == 0
    expected = re.findall(r"<< '\\n';\s*// (.*)", main)
    assert [line.rstrip() for line in done.stdout.splitlines()] == expected


def test_the_examples_find_free_paths(prefix: Path, tmp_path: Path) -> None:
    sources = sorted((ROOT / "examples/cpp").glob("*.cpp"))
    build = tmp_path / "build"
    for command in (
        ("cmake", "-S", ROOT / "examples/cpp", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"),
        ("cmake", "--build", build),
        *((build / source.stem,) for source in sources),
    ):
        done = run(*command, env=without_ros())
        assert done.returncode == 0, done.stdout
    assert sources and all(len(each.read_text().splitlines()) < 150 for each in sources)


@pytest.mark.parametrize("wrong", ["99", f"{MAJOR}.{MINOR + 1}", f"{MAJOR}.{MINOR}.{PATCH + 1}"])
def test_another_version_is_refused(prefix: Path, tmp_path: Path, wrong: str) -> None:
    consumer = Consumer(tmp_path / "c", FIND.format(wrong), main=USES_KERNEL)
    done = consumer.configure(f"-DCMAKE_PREFIX_PATH={prefix}", env=without_ros())
    assert done.returncode != 0
    assert f"version: {VERSION}" in done.stdout


def compiled(tmp_path: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "main.cpp"
    source.write_text(USES_KERNEL)
    return run("c++", "-std=c++20", "-fsyntax-only", "-Wfatal-errors", INCLUDE, *flags, source)


def test_headers_are_refused_without_the_flags_that_they_need(tmp_path: Path) -> None:
    without = compiled(tmp_path)
    assert without.returncode != 0
    assert "compile with -ffp-contract=off -DGJK_FP_CONTRACT_OFF" in without.stdout.replace(
        "\n", ""
    )
    flags = ("-ffp-contract=off", "-DGJK_FP_CONTRACT_OFF", "-ffinite-math-only")
    fast = compiled(tmp_path, *flags)
    assert fast.returncode != 0
    assert "-fno-fast-math" in fast.stdout


def test_every_header_with_doubles_asks_for_the_flags() -> None:
    text = {
        path.relative_to(KERNEL).as_posix(): path.read_text() for path in KERNEL.rglob("*.hpp")
    }

    @cache
    def asks(header: str) -> bool:
        includes = re.findall(r'^#include "(gjk/.*\.hpp)"', text[header], re.MULTILINE)
        return header == "gjk/arithmetic.hpp" or any(map(asks, includes))

    without = {header for header in text if "double" in text[header] and not asks(header)}
    assert without == {"gjk/simd/each_set.hpp"}  # includes the file that its includer names


@pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for x86-64's fused instructions")
@pytest.mark.parametrize("linked", [True, False])
def test_the_target_overrides_flags_that_fuse(prefix: Path, tmp_path: Path, linked: bool) -> None:
    consumer = Consumer(tmp_path / "c", FIND.format("") + LINK * linked, main=MULTIPLIES)
    consumer.configure(
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_CXX_FLAGS=-O2 -mfma -ffp-contract=fast -ffast-math",
        env=without_ros(),
    )
    command = consumer.compile_command("main")
    done = run(*command[: command.index("-o")], "-S", "-o", "-", consumer.folder / "main.cpp")
    assert done.returncode == 0, done.stdout
    assert ("vfm" in done.stdout) is not linked

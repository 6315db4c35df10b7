# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The code blocks of README, docs/ and the other pages do what the pages say.

A reader copies them. pages.py describes the comments that steer these tests.
"""

from __future__ import annotations

import ast
import configparser
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pages import BLOCKS, PAGES, ROOT, Block, blocks, commands

from gjk_collision.__main__ import main
from gjk_collision.replay.case import read_cases, read_parameters
from gjk_collision.replay.interfaces import default_types
from gjk_collision.server.parameters.config import Config

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

# How a block of each kind is tested. A kind that is not listed here is an error.
KINDS = {
    "python": "executed, all blocks of a page one after the other; printed text is compared",
    "bash": "parsed by bash; the commands and options of this package and of ros2 must exist",
    "yaml": "read as a parameter file, as a scenario, or as YAML",
    "cpp": "compiled and run by test_packaging.py, if it needs no ROS",
    "cmake": "not tested: the consumers of test_packaging.py have these lines",
    "ini": "parsed",
    "xml": "parsed",
    "text": "not tested: output or a drawing, which no program reads",
}
NEEDS_ROS = {"rclpy", "launch", "launch_ros"} | {
    f"gjk_collision.ros.{name}" for name in ("client", "mirror")
}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="bash")


def named(found: list[Block]) -> Any:
    return pytest.mark.parametrize("block", found, ids=[each.place for each in found])


def test_each_kind_of_block_is_known() -> None:
    every = [each for found in BLOCKS.values() for each in found]
    unknown = [each.place for each in every if each.kind not in KINDS]
    assert not unknown, "give the block a language of KINDS"


def printed_in_comments(text: str) -> list[str]:
    """Return the lines that the comments of a block say it prints.

    Either after ``print(...)`` in the same line, up to a colon with an explanation, or in the
    lines after a comment ``# prints:``.
    """
    found: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line == "# prints:":
            for each in lines:
                if not each.startswith("#"):
                    break
                found.append(each[2:])
        elif match := re.match(r"\s*print\(.*\)\s+# (.*)$", line):
            found.append(re.split(r": (?=[a-z])", match[1])[0])
    return found


def imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{each.name}" for each in node.names)


def write_files(page: Path, folder: Path) -> None:
    for block in BLOCKS[page]:
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)


def run_python(block: Block, names: dict[str, Any]) -> None:
    exec(compile(block.given, f"{block.place} (given)", "exec"), names)
    # The lines of the page in a traceback
    code = compile("\n" * block.line + block.text, str(block.page), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    assert printed.getvalue().splitlines() == printed_in_comments(block.text), block.place


def run_commands(block: Block, folder: Path) -> str:
    """Run the commands of a block, compare the exit code of the last one, return the output."""
    done = subprocess.run(
        ["bash", "-eu", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == block.exit_code, f"{block.place}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def is_executed(block: Block) -> bool:
    if block.kind != "python":
        return block.exit_code is not None or block.output
    return not block.not_run and NEEDS_ROS.isdisjoint(imports(block.text))


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(map(is_executed, BLOCKS[page]))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_blocks_of_a_page_run_in_their_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They share their names and a folder, as in the program of a reader."""
    chosen = [each for each in BLOCKS[page] if is_executed(each)]
    texts = [each.text for each in chosen if each.kind == "python"]
    wanted = {name.partition(".")[0] for text in texts for name in imports(text)}
    absent = sorted(name for name in wanted if find_spec(name) is None)
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    write_files(page, tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    output = ""
    for block in chosen:
        if block.output:
            assert output.rstrip() == block.text.rstrip(), block.place
        elif block.kind == "python":
            run_python(block, names)
        else:
            output = run_commands(block, tmp_path)


def methods(file: str, name: str) -> dict[str, ast.arguments]:
    """Return the methods of a class of gjk_collision/ros, which cannot be imported without ROS."""
    tree = ast.parse((ROOT / "gjk_collision" / "ros" / file).read_text())
    found = next(
        each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name
    )
    return {each.name: each.args for each in found.body if isinstance(each, ast.FunctionDef)}


OBJECTS = {"client": ("client.py", "CollisionClient"), "mirror": ("mirror.py", "CollisionMirror")}


def check_calls(block: Block) -> None:
    """The methods of `client` and `mirror` exist, and have the arguments that are passed."""
    for node in ast.walk(ast.parse(block.text)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            owner, name = OBJECTS.get(called.value.id), called.attr
        elif isinstance(called, ast.Name):
            owner = next((each for each in OBJECTS.values() if each[1] == called.id), None)
            name = "__init__"
        else:
            continue
        if owner is not None:
            arguments = (methods("questions.py", "Questions") | methods(*owner))[name]
            known = {each.arg for each in [*arguments.args, *arguments.kwonlyargs]}
            given = {each.arg for each in node.keywords}
            assert arguments.kwarg or given <= known, f"{block.place}: {name}: {given - known}"
            assert len(node.args) < len(arguments.args), f"{block.place}: {name}"


@named([each for each in blocks("python") if not is_executed(each)])
def test_python_that_needs_more_is_compiled(block: Block) -> None:
    """A block that needs ROS or data of a planner is at least Python, and imports what exists."""
    check_calls(block)
    for module in imports(block.text):
        if module.startswith("gjk_collision.ros."):
            _, _, file, *name = module.split(".")
            source = (ROOT / "gjk_collision" / "ros" / f"{file}.py").read_text()
            assert not name or re.search(rf"^class {name[0]}\b", source, re.MULTILINE), module
    assert block.not_run or NEEDS_ROS & set(imports(block.text))


def check_dev(words: list[str]) -> None:
    help_text = (ROOT / "dev").read_text()
    entry = re.search(rf"^#: {words[1]}\b(.*?)(?=^#: \S|\Z)", help_text, re.MULTILINE | re.DOTALL)
    assert entry, f"./dev {words[1]} is not in ./dev help"
    for word in words[2:]:
        option = word.partition("=")[0]
        if option.startswith("--"):
            assert option in entry[1], f"./dev {words[1]} has no {option}"


def check_module(words: list[str]) -> None:
    """The real parser accepts the arguments. It refuses before it reads a file."""
    known = {"replay", "record", "trace", "info"}
    assert words[0] in known or words[0] in ("--help", "--version")
    errors = io.StringIO()
    with (
        contextlib.redirect_stderr(errors),
        contextlib.redirect_stdout(io.StringIO()),
        tempfile.TemporaryDirectory() as folder,
    ):
        here, refused = Path.cwd(), None
        os.chdir(folder)  # no bag is found there
        try:
            main(words)
        except SystemExit as wrong:  # of argparse
            refused = wrong.code
        finally:
            os.chdir(here)
    assert not refused, errors.getvalue()


def values_fit(given: Any, kind: str, place: str = "") -> None:
    """The YAML of a command has only fields of the message type, with values of their types."""
    fields = dict(default_types()[kind][1])
    assert isinstance(given, dict), f"{place}: {kind} needs fields"
    for name, value in given.items():
        assert name in fields, f"{place}.{name} is not a field of {kind}"
        node, detail = fields[name]
        value_fits(value, int(node), detail, f"{place}.{name}")


def value_fits(value: Any, node: int, detail: Any, place: str) -> None:
    """Node: 1 a basic type, 2 a message, 3 and 4 arrays of one of these."""
    if node == 2:
        words = {"std_msgs/msg/Header": "auto", "builtin_interfaces/msg/Time": "now"}
        if detail not in words or words[detail] != value:
            values_fit(value, detail, place)
    elif node in (3, 4):
        assert isinstance(value, list), place
        (inner, what), _ = detail
        for i, each in enumerate(value):
            value_fits(each, int(inner), what, f"{place}[{i}]")
    else:
        numbers: Any = (int, float) if "float" in detail[0] else int
        wanted = {"string": str, "bool": bool}.get(detail[0], numbers)
        assert isinstance(value, wanted), f"{place}: {value!r} is no {detail[0]}"


def request_of(kind: str) -> str:
    name = f"{kind.replace('/srv/', '/srv/msg/')}_Request"
    assert name in default_types(), f"there is no service type {kind}"
    return name


LAUNCH_FILE = ROOT / "launch" / "collision_server.launch.py"
EXECUTABLES = {each.name for each in (ROOT / "scripts").iterdir()}


def check_ros2(words: list[str]) -> None:
    """Only what this package provides, and the types and values of the messages, are checked."""
    match words:
        case ["launch", "gjk_collision", file, *arguments]:
            assert file == LAUNCH_FILE.name
            known = re.findall(r"DeclareLaunchArgument\(\s*\"(\w+)\"", LAUNCH_FILE.read_text())
            for each in arguments:
                name, assigned, _ = each.partition(":=")
                assert (assigned and name in known) or each.startswith("-"), f"{each}: {known}"
        case ["run", "gjk_collision", executable, *_]:
            assert executable in EXECUTABLES
            if executable == "replay":
                check_module(["replay", *words[3:]])
        case ["run", "cpp_planner", executable, *_]:
            text = (ROOT / "examples/cpp_planner/CMakeLists.txt").read_text()
            assert f"add_executable({executable} " in text
        case ["topic", "pub", *arguments]:
            _, kind, values = [
                each for each in arguments if not re.fullmatch(r"--?\w[\w-]*|\d+(\.\d+)?", each)
            ][:3]
            values_fit(yaml.safe_load(values), kind)
        case ["topic", "echo", *arguments]:
            # Without the type, it fails if the daemon of ros2 has not found the topic yet.
            kinds = [each for each in arguments if each.count("/") == 2 and each[0] != "/"]
            assert any(each.startswith("/") for each in arguments)
            assert len(kinds) == 1, f"{arguments}: name the type of the message"
        case ["topic", "hz" | "info", *arguments]:
            assert any(each.startswith("/") for each in arguments)
        case ["service", "call", name, kind, *values]:
            if kind.startswith("gjk_collision/"):
                values_fit(yaml.safe_load(values[0]) if values else {}, request_of(kind))
                known = re.findall(r"`~/(\w+)`", (ROOT / "docs" / "ros.md").read_text())
                assert name.rpartition("/")[2] in known
        case ["param", "get" | "set", _, name, *_]:
            assert name in Config.__dataclass_fields__ or "." in name
        case ["lifecycle", "get" | "set", *_] | [
            "bag",
            "record" | "play" | "info" | "reindex",
            *_,
        ]:
            pass
        case ["security", "create_keystore" | "generate_artifacts", *_] | ["pkg", "prefix", *_]:
            pass
        case _:
            raise AssertionError(f"ros2 {' '.join(words)}: add a check for this command")


# Programs of others. Their options are not checked: they are not installed everywhere.
OTHERS = {
    "cd", "cp", "export", "source", "mkdir", "git", "colcon", "docker", "cmake", "apt-get", "sudo",
    "ls", "cat", "doxygen", "g++", "chrt", "c++",
}  # fmt: skip


def check_command(words: list[str]) -> None:
    first, *rest = words
    if first == "./dev":
        check_dev(words)
    elif first == "ros2":
        check_ros2(rest)
    elif first in ("python", "python3"):
        if rest[:2] == ["-m", "gjk_collision"]:
            check_module([re.sub(r"\$\w+", "VARIABLE", each) for each in rest[2:]])
        elif rest[0] == "-m":
            absent = ("venv", "pytest", "gjk_collision.ros.node")
            assert rest[1] in absent or find_spec(rest[1])
        else:
            assert (ROOT / rest[0]).is_file() or rest[0] == "first.py", f"there is no {rest[0]}"
    elif first == "pip":
        extras = re.findall(r"\[([\w,]+)\]", " ".join(rest))
        text = (ROOT / "pyproject.toml").read_text()
        for extra in ",".join(extras).split(",") if extras else ():
            assert re.search(rf"^{extra} = \[", text, re.MULTILINE), f"there is no extra {extra}"
    elif first == "/usr/bin/time":
        check_command(rest)
    else:
        assert first in OTHERS, f"{first}: add a check for this command"


@named(blocks("bash"))
def test_commands_exist(block: Block) -> None:
    subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)
    for words in commands(block.text):
        check_command(words)


@named(blocks("yaml"))
def test_yaml_is_accepted_by_its_reader(block: Block, tmp_path: Path) -> None:
    given = yaml.safe_load(block.text)
    file = tmp_path / "block.yaml"
    file.write_text(block.text)
    if any(key == "/**" or "collision_server" in str(key) for key in given):
        read_parameters(file)
    elif "bag" in given:
        read_cases(file, Config(), tmp_path)
    else:
        assert isinstance(given, dict)


@named(blocks("ini", "xml"))
def test_ini_and_xml_are_parsed(block: Block) -> None:
    if block.kind == "xml":
        ElementTree.fromstring(block.text)
    else:
        configparser.RawConfigParser(strict=False).read_string(block.text)

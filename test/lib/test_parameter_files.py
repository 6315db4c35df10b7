# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Which sections of a parameter file are for a node, and which names in them are for others."""

import os
from pathlib import Path

import pytest

from gjk_collision.errors import InputError
from gjk_collision.server.parameter_files import (
    Section,
    check_values,
    foreign_names,
    named_files,
    read_documents,
    read_sections,
    sections_for,
)

FILE = """
/**:
  ros__parameters: {global_frame: map, safty_margin: 1.0, obstacles: {frequency: 3}}
planner:
  ros__parameters: {plan: 1}
r1:
  collision_server:
    ros__parameters: {bond_heartbeat_period: 0.1, obstacles: {timeout: 0.2}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "own.yaml"
    file.write_text(FILE)
    return file


def test_sections_with_their_flat_names(path: Path) -> None:
    sections = {each.key: each.parameters for each in read_sections(path)}
    assert sections == {
        "/**": {"global_frame": "map", "safty_margin": 1.0, "obstacles.frequency": 3},
        "/planner": {"plan": 1},
        "/r1/collision_server": {"bond_heartbeat_period": 0.1, "obstacles.timeout": 0.2},
    }


def test_section_is_for_the_nodes_that_its_key_names(path: Path) -> None:
    def keys(node: str) -> list[str]:
        return [each.key for each in read_sections(path) if each.applies_to(node)]

    assert keys("/collision_server") == ["/**"]
    assert keys("/r1/collision_server") == ["/**", "/r1/collision_server"]
    assert keys("/planner") == ["/**", "/planner"]


def test_foreign_names_are_of_shared_sections_only(path: Path) -> None:
    """What is in the server's own section is meant for it, and so is what is nearly its name."""
    assert foreign_names(read_sections(path), ["obstacles"]) == {"global_frame"}


EMPTY = "ros__parameters: {}"
SET = "ros__parameters: {safety_margin: 1.5}"


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("text", "node", "words"),
    [
        (f"/**: {{{SET}}}\nserver: {{{SET}}}", "/r1/server", "'/server' does not apply"),
        (f"/**: {{{SET}}}\n/r1/server: {{{SET}}}", "/server", "'/r1/server' does not apply"),
        (f"/**: {{{SET}}}\n/r1/*: {{{SET}}}\nserver: {{{SET}}}", "/r1/server", "'/server' does"),
        (f"/**: {{{SET}}}\na: {{server: {{{SET}}}}}", "/server", "'/a/server' does not apply"),
        (f"/**: {{{SET}}}\nserver: {{{SET}}}\n/r1/server: {{{EMPTY}}}", "/r1/server", "'/server'"),
        (f"/**: {{{EMPTY}}}", "/server", "'/**' without parameters"),
        ("/**:\n  ros__parameters:", "/server", "'/**' without parameters"),
        (f"/**: {{{EMPTY}}}\nserver: {{{SET}}}", "/r1/server", "'/**' without parameters"),
        ("", "/server", "(keys: none)"),
        (f"/**: {{{SET}}}\ncollision_server: {{{SET}}}", "/front", "'/collision_server' does not"),
    ],
)
def test_file_that_misses_the_node_is_refused(
    text: str, node: str, words: str, tmp_path: Path
) -> None:
    """The node would be active without the margins of its own section."""
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        sections_for(tmp_path / "own.yaml", node)
    assert words in str(caught.value)
    assert f"use the key '{node}'" in str(caught.value).replace("'/**' or ", "")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (f"/**: {{{SET}}}\n/r1/server: {{{SET}}}\n/r2/server: {{{SET}}}", "/r1/server"),
        (f"/**: {{{SET}}}\n/r1/server: {{{SET}}}\n/r2/server: {{{SET}}}", "/r2/server"),
        (f"/**/server: {{{SET}}}\nserver: {{{SET}}}", "/r1/server"),
        (f"/**: {{{SET}}}\nserver: {{{EMPTY}}}", "/r1/server"),
        (f"/**: {{{SET}}}\nobserver: {{{SET}}}\n/r2/*: {{{SET}}}", "/r1/server"),
        (f"/**: {{{SET}}}\ncollision_server: {{{SET}}}\nfront: {{{SET}}}", "/front"),
    ],
)
def test_file_for_several_nodes_applies_to_each(text: str, node: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(text)
    assert sections_for(tmp_path / "own.yaml", node)


@pytest.mark.parametrize("text", ["a: [", "a: 3", "a:\n  ros__parameters: 3", "- a"])
def test_file_that_is_no_parameter_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(InputError, match=r"bad\.yaml: cannot be read as a parameter file"):
        read_sections(tmp_path / "bad.yaml")
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read"):
        read_sections(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2026-02-30", "day is out of range for month (got '2026-02-30')"),
        ("!!int ''", "string index out of range (got '')"),
        ("!!bool 3", "'3' (got '3')"),
        ("=", "could not determine a constructor for the tag 'tag:yaml.org,2002:value'"),
    ],
)
def test_value_that_only_rcl_accepts_is_refused_with_its_line(
    value: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(f"/**:\n  ros__parameters:\n    global_frame: {value}\n")
    with pytest.raises(InputError) as caught:
        read_sections(file)
    assert str(caught.value) == f"{file}: cannot be read as a parameter file: line 3: {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("safety_margin: 1.0\n    time_budget: 0.1\n    safety_margin: 0.0",
         "line 5: the key 'safety_margin' is given twice, first in line 3"),
        ("a: {timeout: 0.5}\n    'a': {timeout: 5.0}",
         "line 4: the key 'a' is given twice, first in line 3"),
        ("a.timeout: 0.5\n    a: {timeout: 5.0}", "the parameter 'a.timeout' is given twice"),
    ],
)  # fmt: skip
def test_key_that_is_given_twice_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """The first of two margins must not be dropped in silence."""
    file = tmp_path / "twice.yaml"
    file.write_text(f"/**:\n  ros__parameters:\n    {text}\n")
    with pytest.raises(InputError) as caught:
        read_sections(file)
    assert str(caught.value) == f"{file}: cannot be read as a parameter file: {words}"


def test_merged_keys_may_be_replaced(tmp_path: Path) -> None:
    """`<<` takes the keys of another mapping; a key beside it replaces one of them."""
    file = tmp_path / "merged.yaml"
    a = "a:\n  ros__parameters: &a {x: 1, y: 1}\n"
    b = "b:\n  ros__parameters: &b {<<: *a, y: 2}\n"
    file.write_text(a + b + "c:\n  ros__parameters: {<<: *b, x: 3}\n")
    assert [each.parameters for each in read_sections(file)] == [
        {"x": 1, "y": 1}, {"x": 1, "y": 2}, {"x": 3, "y": 2},
    ]  # fmt: skip


def test_nesting_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep.yaml").write_text("[" * 5000)
    with pytest.raises(InputError, match="cannot be read as a parameter file: maximum recursion"):
        read_sections(tmp_path / "deep.yaml")


def test_only_ros_arguments_name_files() -> None:
    line = (
        "node --params-file a --ros-args -r __ns:=/r1 --params-file b -p x:=1 --params-file c -- "
        "--params-file d --ros-args --params-file e"
    )
    assert list(named_files(line.split())) == ["b", "c", "e"]


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("collision_server:safety_margin:=1.5", "does not apply to /r1/front"),
        ("/front:safety_margin:=1.5", "does not apply to /r1/front"),
        ("/r1/front:safety_margin:=1.5", ""),
        ("safety_margin:=1.5", "the section '/r1/front' of a parameter file replaces it with 0.1"),
        ("front:safety_margin:=1.5", "use 'safety_margin:=...'"),
        ("safety_margin:=0.1", ""),
        ("margin_rear:=1.5", ""),
        ("planner:safety_margin:=1.5", ""),
        ("timeout:=1.5", ""),
    ],
)
def test_value_on_the_command_line_that_is_not_used_is_refused(rule: str, words: str) -> None:
    """The node would be active without the margin that somebody has typed."""
    sections = [Section("/**", {"timeout": 2.0}), Section("/r1/front", {"safety_margin": 0.1})]
    file = ["--params-file", "own.yaml"]
    for flag in ("-p", "--param"):
        line = ["node", flag, "collision_server:a:=1", "--ros-args", "-r", "a:=b", *file]
        line += [flag, rule]
        if not words:
            check_values(line, {"own.yaml": sections}, "/r1/front")
            continue
        with pytest.raises(InputError) as caught:
            check_values(line, {"own.yaml": sections}, "/r1/front")
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("line", "replaced"),
    [
        ("-p x:=1 --params-file all", True),  # as launch passes SetParameter
        ("--params-file all -p x:=1", False),
        ("-p x:=1 --params-file all -p x:=3", False),
        ("-p x:=1 --params-file same", False),
        ("-p x:=1 --params-file own", True),
        ("--params-file own -p x:=1", False),
        ("--params-file empty --params-file own -p x:=1", True),  # '/**' is before '/n'
        ("--params-file own -p n:x:=1", False),
        ("-p n:x:=1 --params-file all --params-file own", True),
        ("-p other:x:=1 --params-file all", False),
    ],
)
def test_value_on_the_command_line_and_files_in_each_order(line: str, replaced: bool) -> None:
    """`test/ros/test_parameters.py` compares more lines with what rclpy does."""
    files = {
        "all": [Section("/**", {"x": 2})],
        "same": [Section("/**", {"x": 1})],
        "own": [Section("/n", {"x": 2})],
        "empty": [Section("/**", {})],
    }
    words = ["--ros-args", *line.split()]
    if not replaced:
        check_values(words, files, "/n")
        return
    with pytest.raises(InputError, match="of a parameter file replaces it with 2"):
        check_values(words, files, "/n")


def test_value_on_the_command_line_that_only_rcl_accepts_is_refused() -> None:
    sections = [Section("/front", {"frame": "map"})]
    for rule in ("frame:=2026-02-30", "planner:frame:=2026-02-30", "other:=2026-02-30"):
        line = ["--ros-args", "-p", rule, "--params-file", "own.yaml"]
        if rule.startswith("frame"):
            with pytest.raises(InputError) as caught:
                check_values(line, {"own.yaml": sections}, "/front")
            assert str(caught.value).startswith(f"-p {rule}: the value cannot be read as YAML: ")
        else:  # its value is not compared
            check_values(line, {"own.yaml": sections}, "/front")


def test_a_pipe_is_no_parameter_file(tmp_path: Path) -> None:
    """It can be read once only, and rcl has read it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="must be a regular file"):
        read_sections(tmp_path / "pipe")


def test_aliases_of_aliases_are_read_at_once() -> None:
    """They would have 10^30 elements."""
    lines = ["a0: &a0 [1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 31)]
    ((value, where),) = read_documents("\n".join(lines))
    assert value["a0"] == [1]
    assert where["a30",] == 31


def test_second_document_is_refused(tmp_path: Path) -> None:
    """A reader that stops after the first document would not see its parameters."""
    path = tmp_path / "two.yaml"
    path.write_text("/**:\n  ros__parameters: {safety_margin: 1.0}\n---\n/**: {}\n")
    with pytest.raises(InputError, match="line 4: a second document"):
        read_sections(path)

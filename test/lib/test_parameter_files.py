# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Which sections of a parameter file are for a node, and which values are used."""

from pathlib import Path

import pytest

from gjk_collision.errors import InputError
from gjk_collision.server.parameters.files import (
    Section,
    check_values,
    named_files,
    parameters_for,
    read_documents,
    read_sections,
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


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "own.yaml").write_text(text)
    return tmp_path / "own.yaml"


def test_sections_with_their_flat_names(tmp_path: Path) -> None:
    sections = {each.key: each.parameters for each in read_sections(written(tmp_path, FILE))}
    assert sections == {
        "/**": {"global_frame": "map", "safty_margin": 1.0, "obstacles.frequency": 3},
        "/planner": {"plan": 1},
        "/r1/collision_server": {"bond_heartbeat_period": 0.1, "obstacles.timeout": 0.2},
    }


def test_section_is_for_the_nodes_that_its_key_names(tmp_path: Path) -> None:
    sections = read_sections(written(tmp_path, FILE))
    for node in ("/collision_server", "/r1/collision_server", "/planner"):
        keys = [each.key for each in sections if each.applies_to(node)]
        assert keys == (["/**"] if node == "/collision_server" else ["/**", node])


EMPTY = "ros__parameters: {}"
SET = "ros__parameters: {safety_margin: 1.5}"


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("text", "node", "words"),
    [
        (f"/**: {{{SET}}}\nserver: {{{SET}}}", "/r1/server", "with its name"),
        (f"/**: {{{SET}}}\n/r1/server: {{{SET}}}", "/server", "(keys: '/**', '/r1/server')"),
        (f"/**: {{{SET}}}\n/r1/*: {{{SET}}}\nserver: {{{SET}}}", "/r1/server", "with its name"),
        (f"/**: {{{SET}}}\na: {{server: {{{SET}}}}}", "/server", "(keys: '/**', '/a/server')"),
        (f"/**: {{{SET}}}\nserver: {{{SET}}}\n/r1/server: {{{EMPTY}}}", "/r1/server", "'/server'"),
        (f"/**: {{{EMPTY}}}", "/server", "'/**' without parameters"),
        ("/**:\n  ros__parameters:", "/server", "'/**' without parameters"),
        (f"/**: {{{EMPTY}}}\nserver: {{{SET}}}", "/r1/server", "'/**' without parameters"),
        ("", "/server", "(keys: none)"),
        (f"/**: {{{SET}}}\ncollision_server: {{{SET}}}", "/front", "with its name"),
        (f"/**: {{{SET}}}\n/r1/server: {{{SET}}}\n/r2/server: {{{SET}}}", "/r1/server", ""),
        (f"/**: {{{SET}}}\n/r1/server: {{{SET}}}\n/r2/server: {{{SET}}}", "/r2/server", ""),
        (f"/**/server: {{{SET}}}\nserver: {{{SET}}}", "/r1/server", ""),
        (f"/**: {{{SET}}}\nserver: {{{EMPTY}}}", "/r1/server", ""),
        (f"/**: {{{SET}}}\nobserver: {{{SET}}}\n/r2/*: {{{SET}}}", "/r1/server", ""),
        (f"/**: {{{SET}}}\ncollision_server: {{{SET}}}\nfront: {{{SET}}}", "/front", ""),
    ],
)
def test_file_that_misses_the_node_is_refused(
    text: str, node: str, words: str, tmp_path: Path
) -> None:
    """The node would be active without the margins of its own section."""
    file = written(tmp_path, text)
    if not words:
        assert parameters_for(file, node)
        return
    with pytest.raises(InputError) as caught:
        parameters_for(file, node)
    assert words in str(caught.value)
    assert f"use the key '{node}'" in str(caught.value).replace("'/**' or ", "")


OTHER = "ros__parameters: {safety_margin: 0.5}"


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"/**: {{{SET}}}\ncolision_server: {{{OTHER}}}", "the key '/colision_server' does not"),
        (f"collision_server: {{{SET}}}\nCollision_Server: {{{OTHER}}}", "'/Collision_Server'"),
        (f"/**: {{{SET}}}\n/r1/server_collision: {{{OTHER}}}", "'/r1/server_collision'"),
        (f'/**: {{{SET}}}\n"collision_server ": {{{OTHER}}}', "'/collision_server ' must be"),
        (f"/**: {{{SET}}}\ncollision-server: {{{OTHER}}}", "'/collision-server' must be"),
        (
            f"collision_server: {{{SET}}}\n/collision_server: {{{OTHER}}}",
            "'safety_margin' is 1.5 in the section of the node, and 0.5 in '/collision_server'",
        ),
        (f"collision_server: {{{SET}}}\n/**: {{{OTHER}}}", "and 0.5 in '/**' after it"),
        (f"collision_server: {{{SET}}}\n/*: {{{OTHER}}}", "and 0.5 in '/*' after it"),
        (f"collision_server: {{{SET}}}\n/**: {{{SET}}}", ""),
        (
            "collision_server: {ros__parameters: {safety_margin: .nan}}\n/**: {" + SET + "}",
            "'safety_margin' is nan in the section of the node",
        ),
        (f"/**: {{{OTHER}}}\ncollision_server: {{{SET}}}", ""),
        (f"/**: {{{OTHER}}}\n/*: {{{SET}}}\ncollision_monitor: {{{OTHER}}}", ""),
        (f"collision_server: {{{SET}}}\ncollision_server_2: {{{OTHER}}}", ""),
        (f"collision_server: {{{SET}}}\nrear_collision_server: {{{OTHER}}}", ""),
        (f"collision_server: {{{SET}}}\ncolision_server: {{{EMPTY}}}", ""),
    ],
)
def test_section_that_would_be_lost_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """A misspelled name of the server, or a value that a later section replaces."""
    file = written(tmp_path, text)
    if not words:
        assert parameters_for(file, "/collision_server") == {"safety_margin": 1.5}
        return
    with pytest.raises(InputError) as caught:
        parameters_for(file, "/collision_server")
    assert words in str(caught.value)


ODD = "/**:\n  ros__parameters:\n    "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, "") for text in ("a: [", "a: 3", "a:\n  ros__parameters: 3", "- a")),
        ("[" * 5000, "maximum recursion"),
        # A value that only rcl accepts is refused with its line.
        (f"{ODD}a: 2026-02-30", "day is out of range for month"),
        (f"{ODD}a: !!int ''", "string index out of range"),
        (f"{ODD}a: !!bool 3", "'3'"),
        (f"{ODD}a: =", "line 3: could not determine a constructor for the tag"),
        # The first of two margins must not be dropped in silence.
        (f"{ODD}a: 1.0\n    b: 0.1\n    a: 0.0", "line 5: the key 'a' is given twice"),
        (f"{ODD}a: {{b: 1}}\n    'a': {{b: 2}}", "line 4: the key 'a' is given twice"),
        (f"{ODD}a.b: 0.5\n    a: {{b: 5.0}}", "the parameter 'a.b' is given twice"),
        # A reader that stops after the first document would not see its parameters.
        (f"{ODD}a: 1.0\n---\n/**: {{}}\n", "it has several documents"),
    ],
)  # fmt: skip
def test_file_that_is_no_parameter_file_is_refused(text: str, words: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_sections(file)
    begin = f"{file}: cannot be read as a parameter file: {words}"
    assert str(caught.value).startswith(begin)
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read"):
        read_sections(tmp_path / "none.yaml")


def test_merged_keys_may_be_replaced(tmp_path: Path) -> None:
    """`<<` takes the keys of another mapping; a key beside it replaces one of them."""
    a = "a:\n  ros__parameters: &a {x: 1, y: 1}\n"
    b = "b:\n  ros__parameters: &b {<<: *a, y: 2}\n"
    file = written(tmp_path, a + b + "c:\n  ros__parameters: {<<: *b, x: 3}\n")
    values = [each.parameters for each in read_sections(file)]
    assert values == [{"x": 1, "y": 1}, {"x": 1, "y": 2}, {"x": 3, "y": 2}]


def test_only_ros_arguments_name_files() -> None:
    line = (
        "node --params-file a --ros-args -r __ns:=/r1 --params-file b -p x:=1 --params-file c -- "
        "--params-file d --ros-args --params-file e"
    )
    assert list(named_files(line.split())) == ["b", "c", "e"]


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize(
    ("rule", "is_refused"),
    [
        ("collision_server:safety_margin:=1.5", True),
        ("/front:safety_margin:=1.5", True),
        ("/r1/front:safety_margin:=1.5", True),
        ("colision_server:safety_margin:=1.5", True),
        ("safety_margin:=1.5", True),
        ("safety_margin:=wide", True),
        ("safety_margin:=2026-02-30", True),
        ("other_name:=1.5", True),
        ("safety_margin:=0.1", False),
        ("/r1/front:safety_margin:=1e-1", False),
        ("/**:safety_margin:=0.1", False),
        ("front:safety_margin:=0.1", False),
        ("planner:safety_margin:=1.5", False),
        ("footprint:=[1.0, 2.0]", False),
        ("speed_footprints:=[]", False),
        ("check_frame:=map", False),
        ("check_frame:='map'", False),
        ("autostart:=false", False),
        ("autostart:=true", True),
    ],
)
def test_value_on_the_command_line_that_is_not_used_is_refused(
    rule: str, is_refused: bool
) -> None:
    """The node would be active without the margin that somebody has typed."""
    used = {"safety_margin": 0.1, "footprint": (1.0, 2.0), "speed_footprints": ()}
    used |= {"check_frame": "map", "autostart": False}
    for flag in ("-p", "--param"):
        line = ["node", flag, "collision_server:a:=1", "--ros-args", "-r", "a:=b", flag, rule]
        if not is_refused:
            check_values(line, "/r1/front", used)
            continue
        with pytest.raises(InputError, match="is not used: /r1/front has the value") as caught:
            check_values(line, "/r1/front", used)
        assert str(caught.value).startswith(f"-p {rule}: ")


@pytest.mark.requirement("N-4")
@pytest.mark.parametrize("value", ["0.5", "[0.5, 1.0]", "5e-1"])
def test_value_of_the_last_file_that_is_not_used_is_refused(value: str, tmp_path: Path) -> None:
    """The key of its section was in a file before, so rcl has used `/**` after it."""
    texts = ("n: {ros__parameters: {a: 1}}", f"/**: {{ros__parameters: {{x: 0.1, a: {value}}}}}")
    line = ["--ros-args"]
    for i, text in enumerate((*texts, f"n: {{ros__parameters: {{a: {value}, x: {value}}}}}")):
        (tmp_path / f"{i}.yaml").write_text(text)
        line += ["--params-file", str(tmp_path / f"{i}.yaml")]
    read = [0.5, 1.0] if value[0] == "[" else 0.5
    check_values(line, "/n", {"a": read, "x": read})
    check_values([*line, "-p", "x:=0.1"], "/n", {"a": read, "x": 0.1})
    with pytest.raises(InputError, match=r"2\.yaml: 'x' is .* but /n has the value 0\.1 of anoth"):
        check_values(line, "/n", {"a": read, "x": 0.1})


@pytest.mark.parametrize(
    ("name", "is_misspelled"),
    [
        *((f"collision_server{end}", True) for end in ("s", "_", "r", "x_2", "__")),
        *((f"collision_server{end}", False) for end in ("", "2", "_2", "_front", "_r1_2")),
        ("acollision_server", True),
        ("_collision_server", True),
        ("front_collision_server", False),
        ("front2_collision_server_2", False),
        ("collision_servers_of_front", False),
        ("collision_monitor", False),
    ],
)
def test_names_of_further_servers_are_not_misspelled(name: str, is_misspelled: bool) -> None:
    assert Section(f"/r1/{name}", {}).is_misspelled() is is_misspelled


def test_last_of_several_values_on_the_command_line_counts() -> None:
    """As launch passes those of `SetParameter` in a group in a group."""
    check_values(["--ros-args", "-p", "x:=1", "-p", "x:=2"], "/n", {"x": 2})


def test_aliases_of_aliases_are_read_at_once() -> None:
    """They would have 10^30 elements."""
    lines = ["a0: &a0 [1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 31)]
    ((value, where),) = read_documents("\n".join(lines))
    assert value["a0"] == [1]
    assert where["a30",] == 31

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What judges a replay: scenarios, faults, expectations, golden results, recorded requests."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data import DATA, SCENES, load, needs_data
from replays import SCENARIOS, drive, replay, rows_of, with_requests, write_undefined
from write_scenarios import CAR, Road, at, steps, thing, write_all

from gjk_collision.__main__ import main
from gjk_collision.replay.bag import BagError
from gjk_collision.replay.case import Case, CaseError, read_cases, read_parameters
from gjk_collision.replay.expect import Expectations, parse
from gjk_collision.replay.faults import KINDS
from gjk_collision.replay.golden import GoldenError, read_rows
from gjk_collision.replay.rows import Row
from gjk_collision.replay.scene_file import write_bag
from gjk_collision.replay.span import Span
from gjk_collision.replay.topics import choose
from gjk_collision.replay.write import BagWriter, Storage
from gjk_collision.report.decision import moment
from gjk_collision.report.outcome import Outcome, Result
from gjk_collision.report.run import Options, run
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import OBSTACLE_ARRAY, Config
from gjk_collision.verdict import Status, Verdict

CASES = [
    case
    for name in ("scenarios.yaml", "faults.yaml")
    for case in read_cases(SCENARIOS / name, Config(), Path())
]


@pytest.fixture(scope="module")
def bags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bags")
    write_all(folder)
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_scenario(case: Case, bags: Path, tmp_path: Path) -> None:
    result = run(replace(case, bag=bags / case.bag), tmp_path, Options(page=False))
    assert result.outcome is Outcome.PASSED, result.failures
    assert result.summary["expectations"]


def test_every_kind_of_fault_is_tested() -> None:
    assert {fault.kind for case in CASES for fault in case.faults} == set(KINDS)


def test_a_fault_without_its_status_fails(bags: Path, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "fault_nan")
    nan = [fault for fault in case.faults if fault.kind == "nan"]
    wrong = tuple(replace(fault, status=Status.STALE_OBSTACLES) for fault in nan)
    result = replay(bags / "pass_by", tmp_path, faults=wrong)
    assert result.outcome is Outcome.FAILED
    assert "STALE_OBSTACLES" in result.failures[0]
    assert "UNKNOWN/NON_FINITE" in result.failures[0]


# ---- expectations


def state(t: float, verdict: Verdict, status: Status = Status.SUCCESS, **fields: Any) -> Row:
    return Row(round(t * 1e9), round(t * 1e9), "data", verdict, status, **fields)


FREE_UNTIL_2 = [(t / 10, Verdict.FREE if t < 20 else Verdict.COLLISION) for t in range(40)]


@pytest.mark.parametrize(
    ("expect", "holds"),
    [
        ({"windows": [{"from": 0, "to": 2, "verdict": "FREE"}]}, True),
        ({"windows": [{"from": 0, "to": 2.1, "verdict": "FREE"}]}, False),
        ({"windows": [{"from": 0, "to": 2.1, "verdict": ["FREE", "COLLISION"]}]}, True),
        ({"windows": [{"from": 2, "to": 4, "never": "FREE"}]}, True),
        ({"windows": [{"from": 1.9, "to": 4, "never": "FREE"}]}, False),
        ({"windows": [{"from": 5, "to": 6, "verdict": "FREE"}]}, False),  # not tested
        ({"windows": [{"from": 0, "to": 2, "verdict": "FREE", "status": "UNDEFINED"}]}, False),
        ({"windows": [{"from": 0, "to": 2, "verdict": "FREE", "nearest_id": 4}]}, False),
        ({"windows": [{"from": 0, "to": 2, "verdict": "FREE", "distance": [0, 1]}]}, False),
        ({"windows": [{"from": 0, "to": 2, "distance": [4, 6]}]}, True),
        ({"windows": [{"from": 0, "to": 2, "distance": [4, 4.9]}]}, False),
        ({"windows": [{"from": 0, "to": 2, "status": "SUCCESS"}]}, True),
        ({"windows": [{"from": 0, "to": 2, "nearest_id": 4}]}, False),
        ({"windows": [{"from": 0, "to": 2, "nearest_source": "lidar"}]}, True),
        ({"windows": [{"from": 0, "to": 2, "nearest_source": "radar"}]}, False),
        ({"reactions": [{"at": 1.75, "verdict": "COLLISION", "within": 0.3}]}, True),
        ({"reactions": [{"at": 1.75, "verdict": "COLLISION", "within": 0.2}]}, False),
        ({"reactions": [{"at": 1.75, "verdict": "UNKNOWN", "within": 9}]}, False),  # never came
        ({"false_stops": [{"from": 0, "to": 4, "at_most": 0.5}]}, True),
        ({"false_stops": [{"from": 0, "to": 4, "at_most": 0.49}]}, False),
        ({"false_stops": [{"from": 7, "to": 9, "at_most": 1.0}]}, False),  # not tested
    ],
)
def test_expectation(expect: Any, holds: bool) -> None:
    expectations = Expectations(parse(expect))
    for t, verdict in FREE_UNTIL_2:
        expectations.add(t, state(t, verdict, distance=5.0, nearest_source="lidar"))
    failures = [each["failure"] for each in expectations.results()]
    assert (failures == [""]) is holds, failures


@pytest.mark.parametrize(
    "text",
    [
        "bag: a\nexpect: {}",
        "bag: a\nexpect: {windows: []}",
        "bag: a\nexpect: {windows: [{from: 0, to: 1}]}",
        "bag: a\nexpect: {windows: [{from: 0, verdict: FREE}]}",
        "bag: a\nexpect: {windows: [{from: 0, to: 1, verdict: FREE, never: UNKNOWN}]}",
        "bag: a\nexpect: {windows: [{from: 0, to: 1, distance: [1, 0]}]}",
        "bag: a\nexpect: {windows: [{from: 0, to: 1, distance: [a, b]}]}",
        "bag: a\nexpect: {windows: [{from: 0, to: 1, nearest_id: one}]}",
        "bag: a\nexpect: {windows: {from: 0, to: 1, verdict: FREE}}",
        "bag: a\nexpect: {false_stops: [{from: 1, to: 1, at_most: 0}]}",
        "bag: a\nexpect: {windows: [{from: 0, to: 1, verdict: FREE, colour: red}]}",
        "bag: a\nexpected: {}",
        "bag: a\ntolerance: -1",
        "bag: a\nfaults: [{fault: drop, from: 0, topic: /a}]",
        "bag: a\nfaults: [{fault: drop, from: 1, to: 0, topic: /a, status: SUCCESS}]",
        "bag: a\nfaults: {fault: drop, from: 0, topic: /a, status: SUCCESS}",
        "bag: a\nfaults: [{fault: drop, from: 0, topic: /a, status: FINE}]",
        "bag: a\nfaults: [{fault: delay, from: 0, topic: /a, status: SUCCESS}]",
        "expect: {}",
        "[1, 2]",
        "a: [",
        "",
    ],
)
def test_slip_in_a_scenario_is_refused(text: str, tmp_path: Path) -> None:
    """A misspelt expectation that is silently left out would be a test that always passes."""
    (tmp_path / "case.yaml").write_text(text)
    with pytest.raises(CaseError, match=r"case\.yaml"):
        read_cases(tmp_path / "case.yaml", Config())
    assert main(["replay", str(tmp_path / "case.yaml"), "--out", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("case", "line", "rule"),
    [
        ("expect:\n  windows:\n    - from: 0\n      to: 1\n      verdict: FRE", 8,
         "expect.windows[0].verdict: must be one of UNKNOWN, FREE, COLLISION, MARGIN (got 'FRE'); "
         "did you mean 'FREE'?"),
        ("expect:\n  window: []", 5, "expect.window: unknown key; did you mean 'windows'?"),
        ("expect:\n  windows:\n    - {from: 2, to: 1, verdict: FREE}", 6,
         "expect.windows[0].to: must be > 'from', which is 2 (got 1)"),
        ("parameters:\n  obstacles:\n    timeoot: 1.0", 6,
         "parameters.obstacles.timeoot: is not a parameter"),
        ("parameters:\n  obstacles.timeout: -1.0", 5,
         "parameters.obstacles.timeout: must be 0.01 to 60 s (got -1.0)"),
        ("topics:\n  obstacles: {seen: 3}", 5, "topics.obstacles: must be the name of a topic"),
        ("topics:\n  footprnt: /a", 5, "topics.footprnt: unknown key; did you mean 'footprint'?"),
        ("faults:\n  - {fault: dop, from: 0}", 5, "faults[0].fault: must be one of drop, delay, "),
    ],
)  # fmt: skip
def test_error_of_a_scenario_names_line_case_and_rule(
    case: str, line: int, rule: str, tmp_path: Path
) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(f"bag: a\n---\nname: b\n{case}\nbag: a\n")
    with pytest.raises(CaseError) as caught:
        read_cases(path, Config())
    assert str(caught.value).startswith(f"{path}, line {line}, case 'b': {rule}")


@pytest.mark.parametrize("name", ['""', '"."', '".."', '" "', '"a\\nb"', "a" * 201])
def test_name_of_a_case_must_be_that_of_a_folder(name: str, tmp_path: Path) -> None:
    """Else the reports are written elsewhere than below the folder of the reports."""
    path = tmp_path / "case.yaml"
    path.write_text(f"name: {name}\nbag: a\n")
    with pytest.raises(CaseError, match="name: must be a name of a folder"):
        read_cases(path, Config())


def test_bag_in_the_working_directory_has_its_name(
    bags: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bags / "approach")
    assert [each.name for each in read_cases(Path("."), Config())] == ["approach"]


def test_fault_on_a_topic_that_is_not_used_is_an_error_of_the_scenario(
    bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would have no effect, and a status of SUCCESS would hold."""
    path = tmp_path / "case.yaml"
    fault = "{fault: drop, from: 0, topic: /obstacle, status: SUCCESS}"
    path.write_text(f"bag: {bags / 'approach'}\nfaults:\n  - {fault}\n")
    assert main(["replay", str(path), "--no-page", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().out
    assert f"{path}, line 3, case 'case': faults[0].topic: must be one of /footprint, " in said
    assert "(got '/obstacle'); did you mean '/obstacles'?" in said


def test_key_that_is_given_twice_in_a_scenario_is_refused(tmp_path: Path) -> None:
    """Otherwise only the last list of windows is tested."""
    path = tmp_path / "case.yaml"
    window = "    - {from: 0, to: 1, verdict: FREE}\n"
    path.write_text(f"bag: a\n---\nbag: b\nexpect:\n  windows:\n{window}  windows:\n{window}")
    with pytest.raises(CaseError, match=r"line 7: .* 'windows' is given twice, first in line 5"):
        read_cases(path, Config())


def test_parameter_file_of_the_server() -> None:
    path = Path(__file__).parents[2] / "config" / "collision_server.yaml"
    assert read_parameters(path) == Config()


def section(node: str, *parameters: str) -> str:
    return f"{node}:\n  ros__parameters: {{{', '.join(parameters)}}}\n"


EVERY_NODE = (
    "use_sim_time: true", "qos_overrides./footprint.subscription.reliability: reliable",
    "start_type_description_service: false",
)  # fmt: skip
FIRST = section("/r1/collision_server", "safety_margin: 1.0")
BOTH = FIRST + section("/r2/collision_server", "safety_margin: 2.0")


@pytest.mark.parametrize(
    ("text", "node", "margin"),
    [
        (section("collision_server", "safety_margin: 1.0", *EVERY_NODE), "", 1.0),
        (section("/**", "safety_margin: 1.0", *EVERY_NODE), "", 1.0),
        (section("collision_server", "safety_margin: 4.0")
         + section("local_planner", "safety_margin: 0.0"), "", 4.0),
        (BOTH, "/r2/collision_server", 2.0),
        (FIRST, "", 1.0),
    ],
)  # fmt: skip
def test_parameter_file_of_several_nodes(
    text: str, node: str, margin: float, tmp_path: Path
) -> None:
    """A planner's margin of 0 must not replace that of the server."""
    (tmp_path / "own.yaml").write_text(text)
    assert read_parameters(tmp_path / "own.yaml", node) == Config(safety_margin=margin)


LOADED = "footprint_names: [loaded]", "loaded.robot_radius: 2.0", "loaded.colour: red"


@pytest.mark.parametrize(
    ("text", "node", "words"),
    [
        ("", "", "keys: none"),
        ("ego:\n  collision_server:\n    ros__parameters: {}\n", "", ""),
        (section("/**", "global_frame: map"), "", "global_frame: is not a parameter"),
        (section("collision_server", "global_frame: map"), "", "global_frame: is not a parameter"),
        (section("/**", "safty_margin: 0.5", "global_frame: map"), "", "mean 'safety_margin'"),
        (section("/**", "use_sim_timee: true"), "", "did you mean 'use_sim_time'"),
        (section("collision_server", "use_sim_timee: true"), "", "did you mean 'use_sim_time'"),
        (section("/**", *LOADED), "", r"loaded\.colour: is not a parameter"),
        (BOTH, "", "/r1/collision_server, /r2/collision_server; choose one"),
        (FIRST, "/front", "/front"),
    ],
)
def test_parameter_file_is_refused(text: str, node: str, words: str, tmp_path: Path) -> None:
    """Replay accepts and refuses the same names as the node."""
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises(CaseError, match=words):
        read_parameters(tmp_path / "own.yaml", node)


@pytest.mark.parametrize("topics", [("/r1/tf", "/r2/tf"), ("/clock_a", "/clock_b")])
def test_several_topics_for_one_part_are_an_error(topics: tuple[str, str], tmp_path: Path) -> None:
    """The transforms of another robot are not those of this one."""
    part = "tf" if "tf" in topics[0] else "clock"
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        for t in steps(0.5):
            for x, topic in zip((50.0, 0.0), topics, strict=True):
                if part == "clock":
                    writer.clock(at(t), at(t), topic)
                else:
                    writer.transform(at(t), Pose(x, 0.0, 0.0), topic=topic)
            road.obstacles(t, [thing(CAR, 50.0, 0.0)])
    base = "base_link" if part == "tf" else "odom"
    parameters = {"robot_radius": 1.0, "base_frame": base}
    answer = partial(replay, tmp_path / "bag", tmp_path, parameters=parameters)
    result = answer()
    assert result.outcome is Outcome.BROKEN
    assert f"{part} may be any of {', '.join(topics)}; choose one" in result.failures[0]
    assert answer(topics={part: topics[0]}).outcome is Outcome.PASSED
    assert (rows_of(tmp_path)[-1].verdict is Verdict.COLLISION) == (part == "tf")
    assert answer(topics={part: topics[1]}).outcome is Outcome.PASSED
    assert rows_of(tmp_path)[-1].verdict is Verdict.FREE


def test_requests_of_another_server_are_not_answered() -> None:
    kind = "gjk_collision/srv/Collide_Event"
    events = [f"/{name}/collide/_service_event" for name in ("r1/collision_server", "rear")]

    class Recording:
        path = Path("two")
        topics = {"/obstacles": {OBSTACLE_ARRAY}} | {name: {kind} for name in events}

        def can_decode(self, kind: str) -> bool:
            return kind == OBSTACLE_ARRAY

    bag: Any = Recording()
    config = Config(robot_radius=1.0)
    with pytest.raises(BagError, match="server may be any of /r1/collision_server, /rear"):
        choose(bag, config, {})
    assert list(choose(bag, config, {"server": "/rear"}).services) == [events[1]]
    bag.topics["/collision_server/collide/_service_event"] = {kind}
    assert list(choose(bag, config, {}).services) == ["/collision_server/collide/_service_event"]


# ---- golden


@pytest.fixture
def golden(bags: Path, tmp_path: Path) -> Path:
    replay(bags / "approach", tmp_path / "golden")
    return tmp_path / "golden" / "drive" / "results.jsonl"


@pytest.fixture
def against(bags: Path, golden: Path, tmp_path: Path) -> Callable[..., Result]:
    """Replay the same bag, and compare with the golden result."""
    return partial(replay, bags / "approach", tmp_path, golden=golden)


def edited(path: Path, edit: Callable[[int, dict[str, Any]], dict[str, Any] | None]) -> None:
    head, *lines = path.read_text().splitlines()
    rows = [edit(i, json.loads(line)) for i, line in enumerate(lines)]
    path.write_text("\n".join([head, *(json.dumps(row) for row in rows if row)]) + "\n")


def test_golden_of_itself(against: Callable[..., Result]) -> None:
    result = against()
    assert result.outcome is Outcome.PASSED
    assert result.summary["golden"]["compared"] == 81


def test_golden_is_not_overwritten(bags: Path, tmp_path: Path) -> None:
    command = ["replay", str(bags / "approach"), "--out", str(tmp_path), "--no-page", "--quiet"]
    assert main(command) == 0
    before = (tmp_path / "approach" / "results.jsonl").read_bytes()
    assert main([*command, "--golden", str(tmp_path)]) == 2
    assert (tmp_path / "approach" / "results.jsonl").read_bytes() == before


def change_verdict(old: str, new: str, distance: float | None) -> Callable[..., Any]:
    def edit(i: int, row: dict[str, Any]) -> dict[str, Any]:
        if i in (3, 75) and row["verdict"] == old:
            row.update(verdict=new, distance=distance)
        return row

    return edit


@pytest.mark.parametrize(
    ("kind", "edit"),
    [
        ("COLLISION to FREE", change_verdict("FREE", "COLLISION", -1.0)),
        ("FREE to COLLISION", change_verdict("COLLISION", "FREE", 1.0)),
        ("MARGIN to FREE", change_verdict("FREE", "MARGIN", 0.1)),
        ("distance", lambda i, row: {**row, "distance": row["distance"] + 1e-3 * (i == 9)}),
        ("missing stamp", lambda i, row: {**row, "time": row["time"] + (i == 9)}),
        ("new stamp", lambda i, row: None if i == 9 else row),
    ],
)
def test_golden_finds(
    kind: str, edit: Callable[..., Any], against: Callable[..., Result], golden: Path
) -> None:
    edited(golden, edit)
    result = against()
    assert result.outcome is Outcome.FAILED
    assert result.summary["golden"]["changes"][kind]["count"] == 1
    told = "another distance" if kind == "distance" else kind
    assert f"golden: {told}: 1" in result.failures


@pytest.mark.parametrize(
    "nearest", [{"nearest_source": "radar"}, {"nearest_id": 2**53 + 1}], ids=["source", "id"]
)
def test_golden_tells_another_nearest_obstacle(
    nearest: dict[str, Any], against: Callable[..., Result], golden: Path
) -> None:
    """The same id of another source is another obstacle. The verdict and the distance hold."""
    edited(golden, lambda i, row: {**row, **(nearest if i == 9 else {})})
    result = against()
    assert result.outcome is Outcome.PASSED
    found = result.summary["golden"]["changes"]["nearest obstacle"]
    row = {"nearest_id": 1, "nearest_source": "obstacles", **nearest}
    old = f"obstacle {row['nearest_id']} of {row['nearest_source']}"
    assert found == {"count": 1, "first": 0.45}
    [event] = result.summary["events"]["kept"]
    assert event["what"] == "FREE, another nearest obstacle"
    assert event["why"].startswith(f"{old} at 17.300 m -> obstacle 1 of obstacles at 17.300 m")


def test_golden_finds_new_unknowns(against: Callable[..., Result]) -> None:
    """COLLISION that has become UNKNOWN is told apart from COLLISION that has become FREE."""
    result = against(faults=next(case for case in CASES if case.name == "fault_nan").faults)
    found = result.summary["golden"]["changes"]
    lost = [each["count"] for label, each in found.items() if label.endswith("to UNKNOWN")]
    assert sum(lost) == 30  # 2 s to 3.5 s at 20 Hz
    assert "COLLISION to FREE" not in found


def test_golden_tolerance_and_strangers(
    against: Callable[..., Result], golden: Path, tmp_path: Path
) -> None:
    edited(golden, lambda i, row: {**row, "distance": row["distance"] + 1e-7})
    assert against().outcome is Outcome.PASSED
    result = against(tolerance=1e-8)
    assert result.outcome is Outcome.FAILED
    assert result.summary["golden"]["largest_delta"] == pytest.approx(1e-7, rel=1e-3)
    edited(golden, lambda i, row: {**row, "time": row["time"] + 1})  # no stamp in common
    assert any("not tested" in failure for failure in against().failures)
    for text in ("", "{}", "what", '{"format":1}\n{"verdict":"FREE"}'):
        golden.write_text(text)
        assert against().outcome is Outcome.REFUSED
    assert against(golden=tmp_path / "no").outcome is Outcome.REFUSED


def test_comparison_says_why(
    bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line for each cause: parameters, faults, recording, code; in all reports."""
    out, old = tmp_path / "out", tmp_path / "old"
    shift = {"fault": "restamp", "topic": "/tf", "from": 1.0, "to": 2.0, "by": 0.0}
    changed = {"parameters": {"safety_margin": 0.9}, "faults": [shift | {"status": "SUCCESS"}]}
    for given, folder in (({}, old), (changed, out)):
        (tmp_path / "x.yaml").write_text(json.dumps({"bag": str(bags / "approach"), **given}))
        words = ["replay", str(tmp_path / "x.yaml"), "--out", str(folder)]
        main([*words, *(["--golden", str(old)] if folder is out else [])])
        summary = json.loads((old / "x" / "summary.json").read_text())
        summary["origin"]["version"] = "0.9.0"
        (old / "x" / "summary.json").write_text(json.dumps(summary))
    own = json.loads((out / "x" / "summary.json").read_text())
    now = own["origin"]["version"]
    causes = [
        "parameters: safety_margin 0.0 -> 0.9",
        "faults: [] -> [restamp /tf from 1 to 2 s by 0.0]",
        f"code: 0.9.0 -> {now}",
    ]
    assert own["golden"]["why"] == causes
    told = capsys.readouterr().out
    [junit] = ET.parse(out / "x" / "junit.xml").iter("system-out")
    for cause in causes:
        assert f"why: {cause}" in told
        assert f"why: {cause}" in (junit.text or "").splitlines()
        assert (
            f"<li>why: {cause.replace('>', '&gt;')}</li>" in (out / "x" / "index.html").read_text()
        )


@pytest.mark.parametrize(
    ("edit", "last", "causes"),
    [
        (None, 3.0, []),
        (
            ("shift", 1.3),
            3.0,
            ["from 1.3 to 1.4 s: the message of 1.300 s: obstacle 1 moved by 1 m"],
        ),
        (
            ("drop", 1.55),
            3.0,
            ["from 1.5 s on (61 -> 60 messages): the message of 1.550 s is missing"],
        ),
        (("drop", 1.55), 1.2, []),
    ],
)
def test_recording_differs_from_a_time_on(
    edit: tuple[str, float] | None, last: float, causes: list[str], tmp_path: Path
) -> None:
    """One obstacle message is changed or missing; only the part that both have read counts."""
    kind, time = edit or ("", -1.0)

    def edited_step(road: Road, t: float) -> None:
        if t != time or kind == "shift":
            road.obstacles(t, [thing(CAR, 20.0 + (t == time), 0.0)])

    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    replay(drive(tmp_path / "old" / "bag", seconds=3.0), tmp_path / "golden")
    case = Case("drive", drive(tmp_path / "new" / "bag", edited_step, 3.0))
    options = Options(tmp_path / "golden", page=False, span=Span(0.0, last))
    found = run(case, tmp_path, options).summary["golden"]["why"]
    assert found == [f"recording: /obstacles differs {each}" for each in causes]


def test_golden_result_without_its_origin(against: Callable[..., Result], golden: Path) -> None:
    (golden.parent / "summary.json").unlink()
    [cause] = against().summary["golden"]["why"]
    assert "not known" in cause


# ---- recorded requests


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize(
    "spellings", [("srv", "srv"), ("srv/msg", "srv/msg"), ("srv", "srv/msg")], ids="-".join
)
@pytest.mark.parametrize("recorded", [Verdict.COLLISION, Verdict.FREE])
def test_requests_are_answered_again(
    recorded: Verdict, spellings: tuple[str, str], storage: Storage, tmp_path: Path
) -> None:
    """As rosbag2 records them, as rosbags writes them, and both in one topic."""
    with_requests(tmp_path / "bag", recorded, spellings=spellings, storage=storage)
    result = replay(tmp_path / "bag", tmp_path)
    requests = [row for row in rows_of(tmp_path) if not row.is_state]
    assert {row.cause for row in requests} == {"Collide", "Distance", "CheckPoses", "CheckPath"}
    for row in requests:
        assert (row.verdict, row.status) == (Verdict.COLLISION, Status.SUCCESS), row
        assert row.now == at(0.51)
    assert requests[0].recorded == recorded.name
    summary, counts = result.summary, result.summary["requests"]
    assert (counts["count"], counts["replies_compared"]) == (4, 1)
    is_lost = recorded is Verdict.FREE
    changed = {"FREE to COLLISION": {"count": 1, "first": 0.52}} if is_lost else {}
    assert counts["replies_changed"] == changed
    assert summary["notes"] == [
        "3 requests have no recorded reply: not compared",
        "1 requests were recorded by a client, not by the server: not answered again",
        "1 requests were recorded without their content: not answered again",
    ]
    failures = ["1 reply FREE -> COLLISION, first at 0.520 s"] if is_lost else []
    assert (result.outcome, result.failures) == (Outcome(is_lost), failures)


ELSEWHERE = [30.1, 0.1, 29.9, 0.1, 30.0, -0.1]  # not where the car is


@pytest.mark.parametrize(
    ("recorded", "parameters", "kind", "is_failure"),
    [
        (Verdict.FREE, {}, "FREE -> COLLISION", True),
        (Verdict.FREE, {"check_frame": "nowhere"}, "FREE -> UNKNOWN", True),
        (Verdict.COLLISION, {"footprint": ELSEWHERE}, "COLLISION -> FREE", True),
        (Verdict.UNKNOWN, {}, "UNKNOWN -> COLLISION", False),
        (Verdict.MARGIN, {}, "MARGIN -> COLLISION", False),
    ],
)
def test_replies_that_differ_are_reported_by_kind(
    recorded: Verdict,
    parameters: dict[str, Any],
    kind: str,
    is_failure: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the terminal, the summary, JUnit and the page. An option lets FREE differ only."""
    with_requests(tmp_path / "bag", recorded)
    scenario = tmp_path / "drive.yaml"
    given = {"bag": "bag", "parameters": parameters}
    scenario.write_text(json.dumps(given))
    (tmp_path / "may.yaml").write_text(json.dumps({**given, "replies_may_differ": True}))
    text = f"1 reply {kind}, first at 0.520 s"
    is_lost = kind == "COLLISION -> FREE"
    for words, fails in (
        ([str(scenario)], is_failure),
        ([str(scenario), "--replies-may-differ"], is_lost),
        ([str(tmp_path / "may.yaml")], is_lost),
    ):
        assert main(["replay", *words, "--out", str(tmp_path / "out")]) == fails
        folder = tmp_path / "out" / Path(words[0]).stem
        assert f"{'' if fails else 'note: '}{text}" in capsys.readouterr().out
        tag = "failure" if fails else "system-out"
        [told] = ET.parse(folder / "junit.xml").iter(tag)
        assert text in (told.text or "").splitlines()
        page = (folder / "index.html").read_text()
        assert text.replace(">", "&gt;") in page


def test_an_answer_depends_on_the_recording_only(tmp_path: Path) -> None:
    """The id of a snapshot is that of the recorded node, and there is no time budget."""
    with_requests(tmp_path / "bag", Verdict.COLLISION, required=2**40)
    replay(tmp_path / "bag", tmp_path, parameters={"time_budget": 0.001})
    requests = [row for row in rows_of(tmp_path) if not row.is_state]
    assert [row.status for row in requests] == [Status.SUCCESS] * 4


def assert_noted(bag: Path, note: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that a report that says "passed" does not hide what was left out."""
    out = bag.with_name("out")
    assert main(["replay", str(bag), "--out", str(out)]) == 0
    assert note in capsys.readouterr().out
    assert note in (out / "bag/index.html").read_text()
    [noted] = json.loads((out / "bag/summary.json").read_text())["notes"]
    assert noted.startswith(note)


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        (2, "3 replies belong to requests not answered again: not compared"),
        (3, "3 replies were recorded by a client: not compared"),
    ],
)
def test_replies_without_their_requests_are_reported(
    kind: int, note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a recording that began after the requests, or with a filter on the events."""
    name = "gjk_collision/srv/msg/Collide_Event"

    def end(road: Road) -> None:
        types = road.writer.types
        stamp = types["builtin_interfaces/msg/Time"](0, 0)
        info = types["service_msgs/msg/ServiceEventInfo"]
        for i in range(3):
            event = types[name](info(kind, stamp, np.zeros(16, np.uint8), i), [], [])
            road.writer.write("/collision_server/collide/_service_event", name, at(0.4), event)

    assert_noted(drive(tmp_path / "bag", seconds=0.5, end=end), note, capsys)


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("/collision_server/get_snapshot/_service_event", "gjk_collision/srv/GetSnapshot_Event"),
        ("/renamed", "gjk_collision/srv/msg/GetSnapshot_Event"),
        ("/collision_server/collide/_service_event", "gjk_collision/srv/Collided_Event"),
        ("/collision_server/collide/_service_event", "other_msgs/srv/Collide_Event"),
        ("/collision_server/collide/_service_event", "other_msgs/msg/Event"),
    ],
)
def test_service_events_that_are_not_read_are_reported(
    topic: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(road: Road) -> None:
        for _ in range(2):
            write_undefined(road.writer, topic, kind, at(0.5), b"\x00\x01\x00\x00")

    note = f"{topic} ({kind.replace('/srv/msg/', '/srv/')}): 2 service events are not read"
    assert_noted(drive(tmp_path / "bag", seconds=0.5, end=end), note, capsys)


@pytest.mark.requirement("D-9")
@pytest.mark.parametrize(
    ("wait", "replied", "first", "others"),
    [
        (0.2, 0.62, Status.SUCCESS, Status.SUCCESS),
        (0.2, 0.52, Status.TF_EXTRAPOLATION, Status.SUCCESS),  # before the transform, as recorded
        (0.05, 0.62, Status.TF_EXTRAPOLATION, Status.TF_EXTRAPOLATION),  # the wait is over
        (0.0, 0.62, Status.TF_EXTRAPOLATION, Status.TF_EXTRAPOLATION),
    ],
)
def test_requests_that_waited_for_a_transform(
    wait: float, replied: float, first: Status, others: Status, tmp_path: Path
) -> None:
    """Stamped now, in a frame whose transform of then is in the bag 0.09 s later."""
    asked = at(0.51), "lidar"
    with_requests(tmp_path / "bag", Verdict.UNKNOWN, stamp_and_frame=asked, replied=replied)
    replay(tmp_path / "bag", tmp_path, parameters={"transform_wait": wait})
    found = {row.cause: row for row in rows_of(tmp_path) if not row.is_state}
    assert found.pop("Collide").status is first
    assert [row.status for row in found.values()] == [others] * 3
    assert {row.now for row in found.values()} == {at(0.51 if not wait else 0.6)}


@pytest.mark.parametrize(
    ("interpolation", "is_standing", "verdict", "status", "nearest"),
    [
        (0, False, Verdict.FREE, Status.SUCCESS, -1),
        (1, False, Verdict.COLLISION, Status.SUCCESS, 1),
        (2, False, Verdict.UNKNOWN, Status.INVALID_INPUT, -1),  # there is no third one
        (1, True, Verdict.FREE, Status.SUCCESS, -1),
    ],
)
def test_path_is_answered_again(
    interpolation: int, is_standing: bool, verdict: Verdict, status: Status, nearest: int,
    tmp_path: Path,
) -> None:  # fmt: skip
    """The car at 10 m is between the poses at 0 m and 20 m."""
    bag = tmp_path / "bag"
    with_requests(bag, Verdict.COLLISION, interpolation, is_standing=is_standing)
    replay(bag, tmp_path)
    [row] = [row for row in rows_of(tmp_path) if row.cause == "CheckPath"]
    assert (row.verdict, row.status) == (verdict, status), row
    assert is_standing or row.nearest_id == nearest


# ---- scenes


@needs_data
@pytest.mark.parametrize("name", SCENES)
def test_recorded_scene_agrees_with_its_truth(name: str, tmp_path: Path) -> None:
    """By bag, world and scene: verdicts as by exact arithmetic, distances but for float32."""
    count = write_bag(DATA / "scenes" / f"{name}.json", tmp_path / name)
    assert replay(tmp_path / name, tmp_path / "out").outcome is Outcome.PASSED
    rows = [row for row in rows_of(tmp_path / "out") if row.cause == "data"]
    frames = load(f"scenes/{name}.json")["frames"]
    assert len(rows) == len(frames) == count > 0
    for row, frame in zip(rows, frames, strict=True):
        truth, where = frame["gt"], (name, frame["t"])
        assert row.status is Status.SUCCESS, where
        assert row.verdict is (Verdict.COLLISION if truth["collide"] else Verdict.FREE), where
        if truth["collide"]:
            assert row.nearest_id in truth["colliding_ids"], where
        else:
            # geometry_msgs/Polygon is float32: a footprint of some metres is off by 3e-7 m.
            assert row.distance == pytest.approx(truth["min_distance"], abs=1e-6), where


SCENE = '{"frames": [{"t": 0, "ego": {"polygon": [[0, 0], [1, 0], [1, 1]]}, "obstacles": [%s]}]}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a scene file"),
        ("[]", "is not a scene file"),
        ("{}", "is not a scene file: the key 'frames' is missing"),
        ('{"frames": []}', "frames: must be a list of at least one frame"),
        ('{"frames": [{"t": 0}]}', "frames[0]: the key 'ego' is missing"),
        (SCENE % '{"id": 1}', "frames[0]: obstacles[0]: the key 'polygon' is missing"),
        (SCENE % '{"id": 1, "polygon": [[0, 0], ["a", 0]]}', "obstacles[0].polygon: must be"),
        (SCENE % '{"id": 1, "polygon": [[0, 0], [NaN, 0]]}', "obstacles[0].polygon: must be"),
    ],
)
def test_what_is_no_scene_is_not_recorded(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scene.json").write_text(text)
    assert main(["record", str(tmp_path / "scene.json"), str(tmp_path / "bag")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "bag").exists()


def test_the_scene_in_the_help_can_be_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["record", "--help"])
    shown = capsys.readouterr().out
    scene, bag = tmp_path / "scene.json", tmp_path / "bag"
    scene.write_text(shown[shown.index('{"frames') : shown.rindex("}") + 1])
    assert main(["record", str(scene), str(bag)]) == 0
    assert main(["replay", str(bag), "--out", str(tmp_path / "out")]) == 0
    assert "1 FREE" in capsys.readouterr().out


# ---- reports


def test_reports_of_many(bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(bags / name) for name in ("approach", "pass_by")]
    (tmp_path / "bad.yaml").write_text(
        f"bag: {bags / 'graze'}\nexpect: {{windows: [{{from: 0, to: 9, verdict: FREE}}]}}\n"
    )
    out = tmp_path / "out"
    options = ["--out", str(out), "--no-page"]
    command = ["replay", *paths, str(tmp_path / "bad.yaml"), *options]
    assert main(["replay", str(bags / "nowhere"), *command[1:]]) == 3, "refused before the work"
    assert not out.exists()
    assert main(command) == 1
    assert "wrong at" in capsys.readouterr().out
    merged = json.loads((out / "summary.json").read_text())
    assert merged["outcome"] == "failed"
    assert [each["outcome"] for each in merged["replays"]] == [*["not judged"] * 2, "failed"]
    suites = ET.parse(out / "junit.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["0", "0", "1"]
    assert (out / "approach" / "junit.xml").is_file()


def test_replay_without_expectations_is_not_judged(
    bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """81 answers UNKNOWN are no success, where nothing says that they are expected."""
    (tmp_path / "deaf.yaml").write_text(
        f"bag: {bags / 'approach'}\nparameters: {{check_frame: nowhere}}\n"
    )
    out = ["--out", str(tmp_path / "out"), "--no-page"]
    assert main(["replay", str(tmp_path / "deaf.yaml"), *out]) == 0
    told = capsys.readouterr().out
    assert "not judged  deaf: 81 stamps: 81 UNKNOWN\n" in told
    assert "nothing was judged: no expectation" in told
    summary = json.loads((tmp_path / "out" / "deaf" / "summary.json").read_text())
    assert summary["outcome"] == "not judged"
    suites = ET.parse(tmp_path / "out" / "deaf" / "junit.xml").getroot()
    skipped = suites.find("testsuite/testcase/skipped")
    assert skipped is not None
    assert skipped.get("message") == "not judged: 81 stamps: 81 UNKNOWN"
    assert main(["replay", str(SCENARIOS / "scenarios.yaml"), "--bags", str(bags), *out]) == 0
    told = capsys.readouterr().out
    assert "passed      approach: 81 stamps: 64 FREE, 14 COLLISION, 3 MARGIN; closest " in told
    assert re.search(
        r"^total       (\d+) replays: \1 passed; \d+ stamps: \d+ ", told, re.MULTILINE
    )


# Rounded as a number of JavaScript.
NUMBER = 2**53 + 1


def two_sources(folder: Path, lidar: float, radar: float) -> Case:
    """Obstacles of two sources, with the same id, at these x [m]."""
    with BagWriter(folder / "bag") as writer:
        Road(writer).ego(0.0)
        for topic, x in (("/lidar", lidar), ("/radar", radar)):
            xy = np.array([x, 0.0, x + 1.0, 0.0, x, 1.0])
            found = Obstacles("odom", at(0.0), ids=np.array([NUMBER]), offsets=[0, 3], xy=xy)
            writer.obstacles(found, topic)
    sources = {"obstacle_sources": ["lidar", "radar"], "lidar.topic": "/lidar"}
    parameters = {**sources, "radar.topic": "/radar", "base_frame": "odom"}
    return Case("drive", folder / "bag", Config.from_parameters(parameters))


def test_page_tells_obstacles_of_two_sources_apart(tmp_path: Path) -> None:
    run(two_sources(tmp_path, 20.0, 30.0), tmp_path, Options())
    text = (tmp_path / "drive" / "index.html").read_text()
    assert f'"id":"{NUMBER}","src":"lidar"' in text
    assert f'"{NUMBER}",0]' in text and f'"{NUMBER}",1]' in text
    assert re.findall(r'"sender":"(.*?)"', text) == ["lidar", "radar"]


@pytest.mark.parametrize(("lidar", "radar"), [(20.0, 30.0), (30.0, 20.0)])
def test_trace_shows_the_nearest_of_two_sources(
    tmp_path: Path, lidar: float, radar: float
) -> None:
    found = moment(two_sources(tmp_path, lidar, radar), 0.0)
    assert found.pair.obstacle.bounds[0] == 20.0


def test_the_only_source_may_be_optional(tmp_path: Path) -> None:
    """Its topic is used if the bag has it."""
    case = two_sources(tmp_path, 20.0, 30.0)
    sources = {"obstacle_sources": ["radar"], "radar.required": False, "radar.topic": "/radar"}
    config = Config.from_parameters({**sources, "base_frame": "odom"})
    found = moment(replace(case, config=config), 0.0)
    assert found.pair.obstacle.bounds[0] == 30.0


def test_names_must_differ(bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second case would overwrite the reports of the first one."""
    twice = [str(bags / "approach"), str(bags / "approach")]
    assert main(["replay", *twice, "--out", str(tmp_path)]) == 2
    scenario = tmp_path / "s.yaml"
    scenario.write_text("---\n".join([f"name: a\nbag: {bags / 'approach'}\n"] * 2))
    assert main(["replay", str(scenario), "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("give each its own 'name' in a scenario") == 2


def test_missing_golden_or_scenario_says_how_to_make_one(
    bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = ["--golden", str(tmp_path / "none")]
    out = ["--out", str(tmp_path / "out"), "--no-page"]
    assert main(["replay", str(bags / "approach"), *golden, *out]) == 2
    assert "replay BAG --out FOLDER, then use --golden FOLDER" in capsys.readouterr().out
    assert main(["replay", str(tmp_path / "none.yaml"), *out]) == 2
    assert "does not exist. A scenario is a text such as {bag: " in capsys.readouterr().err


def test_equal_expectations_have_different_names_in_junit(bags: Path, tmp_path: Path) -> None:
    """A build server keeps one result for each name."""
    window = {"from": 0, "to": 1, "verdict": "FREE"}
    expect = tuple(parse({"windows": [window, window]}))
    replay(bags / "approach", tmp_path, expect=expect)
    names = [case.get("name") for case in ET.parse(tmp_path / "drive/junit.xml").iter("testcase")]
    assert names == ["replay", "0 to 1 s: FREE", "0 to 1 s: FREE (2)"]


def test_expectations_are_told_as_they_are_written() -> None:
    """What is not known of a wrong answer is not told: no nearest -1 at nan m."""
    given = {"windows": [{"from": 0, "to": 2, "never": ["COLLISION", "UNKNOWN"]}]}
    expectations = Expectations(parse(given))
    expectations.add(1.0, state(1.0, Verdict.UNKNOWN, Status.NO_FOOTPRINT, message="no message"))
    [found] = expectations.results()
    text = "0 to 2 s: never COLLISION or UNKNOWN"
    wrong = "wrong at 1 of 1 stamps, first at 1.000 s: UNKNOWN/NO_FOOTPRINT: no message"
    assert (found["text"], found["failure"]) == (text, f"{text}: {wrong}")


def test_info(bags: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(bags / "approach")]) == 0
    assert "81  /footprint" in capsys.readouterr().out
    assert main(["info"]) == 0
    rows = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert ["gjk_collision", version("gjk_collision")] in rows
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"gjk_collision {version('gjk_collision')}\n"


def test_reader_that_ends_early_causes_no_traceback(bags: Path) -> None:
    """As `info BAG | head -1` does."""
    command = [sys.executable, "-m", "gjk_collision", "info", str(bags / "approach")]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=100, check=False
    )
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == ""


def test_all_commands_end_alike(
    bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad input, and a place that cannot be written to: 2. A bag that cannot be read: 3."""
    bag, nowhere, out = map(str, (bags / "approach", tmp_path / "no", tmp_path / "o"))
    (tmp_path / "scene.json").write_text(SCENE % "")
    (tmp_path / "file").write_text("no folder, and no bag")
    scene, file = str(tmp_path / "scene.json"), str(tmp_path / "file")
    for command, code in (
        (["replay", bag, "--params", nowhere, "--out", out], 2),
        (["replay", bag, "--topics", "x=/y", "--out", out], 2),
        (["replay", bag, "--no-page", "--out", f"{file}/out"], 2),
        (["replay", bag, "--no-page", "--golden", nowhere, "--out", out], 2),
        (["replay", nowhere, "--out", out], 3),
        (["replay", file, "--out", out], 3),
        (["record", nowhere, out], 2),
        (["record", file, out], 2),
        (["record", scene, file], 2),
        (["record", scene, out, "--seconds", "3"], 2),
        (["record", scene, f"{file}/bag"], 2),
        (["trace", bag, "--at", "1", "--params", nowhere], 2),
        (["trace", bag, "--at", "-1"], 2),
        (["trace", bag, "--at", "1", "--id", "99"], 2),
        (["trace", nowhere, "--at", "1"], 3),
        (["trace", file, "--at", "1"], 3),
        (["info", nowhere], 3),
        (["info", file], 3),
    ):
        assert main(command) == code, command
        said = capsys.readouterr()
        assert f"{command[0]}: " in said.err or "cannot be read" in said.out, command


def test_json_of_lists_in_lists_without_end_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text('{"frames": ' + "[" * 100_000)
    assert main(["record", str(deep), str(tmp_path / "bag")]) == 2
    with pytest.raises(GoldenError, match="cannot be read as a result file"):
        list(read_rows(deep))


def test_topic_of_a_source_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    case = two_sources(tmp_path, 3.0, 3.0)
    case = replace(case, topics={"obstacles": {"lidar": "/lidar", "rader": "/radar"}})
    assert run(case, tmp_path / "out", Options()).outcome is Outcome.BROKEN
    with pytest.raises(BagError, match="unknown source: rader; allowed: lidar, radar"):
        moment(case, 0.0, None)


def test_folder_without_a_bag_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "metadata.txt").write_text("no bag")
    with pytest.raises(BagError, match="this folder contains no bag"):
        read_cases(tmp_path / "notes", Config())

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay of a part of a recording: --from and --to."""

import json
from pathlib import Path

import pytest
from replays import rows_of
from write_scenarios import CAR, Road, at, steps, thing, write

from gjk_collision.__main__ import main
from gjk_collision.replay.case import Case
from gjk_collision.replay.expect import parse
from gjk_collision.replay.faults import FaultSpec
from gjk_collision.replay.span import Span
from gjk_collision.replay.write import BagWriter
from gjk_collision.report.outcome import Outcome, Result, outcome_text
from gjk_collision.report.run import Options, run
from gjk_collision.verdict import Verdict


@pytest.fixture(scope="module")
def approach(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("bags"), "approach")


def part(case: Case, out: Path, begin: float, end: float, golden: Path | None = None) -> Result:
    return run(case, out, Options(golden, page=False, span=Span(begin, end)))


def test_stamps_of_a_part_are_those_of_the_whole(approach: Path, tmp_path: Path) -> None:
    case = Case("drive", approach)
    run(case, tmp_path / "whole", Options(page=False))
    whole = rows_of(tmp_path / "whole")
    result = part(case, tmp_path / "part", 1.0, 2.5)
    rows = rows_of(tmp_path / "part")
    assert [row.time for row in rows] == [at(t) for t in steps(4.0) if 1.0 <= t <= 2.5]
    assert rows == [row for row in whole if row.time in {each.time for each in rows}]
    assert result.summary["stamps"] == len(rows) == 31
    assert result.summary["identity"]["judged"] == [1.0, 2.5]
    assert "only stamps from 1 s to 2.5 s" in result.summary["notes"][0]
    assert "only stamps from 1 s" in (tmp_path / "part" / "drive" / "summary.md").read_text()


def test_data_before_the_part_is_processed(tmp_path: Path) -> None:
    """The footprint and the obstacles are received once, before the part."""
    with BagWriter(tmp_path / "bag") as writer:
        road = Road(writer)
        for t in (0.0, 5.0):
            road.ego(t)
            road.obstacles(t, [thing(CAR, 20.0, 0.0)])
    case = Case("drive", tmp_path / "bag")
    run(case, tmp_path / "whole", Options(page=False))
    part(case, tmp_path / "part", 0.05, 0.15)
    rows = rows_of(tmp_path / "part")
    assert {row.verdict for row in rows} == {Verdict.FREE}
    assert {row.cause for row in rows} == {"silence"}
    assert all(row in rows_of(tmp_path / "whole") for row in rows)


def test_part_without_a_stamp_is_broken(tmp_path: Path, approach: Path) -> None:
    result = part(Case("drive", approach), tmp_path, 1.01, 1.04)
    assert result.outcome is Outcome.BROKEN
    assert result.failures == ["no stamp was evaluated: from 1.01 s to 1.04 s"]


def test_golden_is_compared_in_the_part_only(approach: Path, tmp_path: Path) -> None:
    case = Case("drive", approach)
    run(case, tmp_path / "golden", Options(page=False))
    result = part(case, tmp_path / "part", 1.0, 2.5, tmp_path / "golden")
    assert result.outcome is Outcome.PASSED
    assert result.summary["golden"]["compared"] == 31
    assert result.summary["golden"]["missing_stamps"]["count"] == 0
    golden = tmp_path / "golden" / "drive" / "results.jsonl"
    golden.write_text(golden.read_text().replace('"FREE"', '"COLLISION"'))
    assert part(case, tmp_path / "other", 1.0, 2.5, golden).outcome is Outcome.FAILED


def test_expectations_outside_of_the_part_are_not_tested_and_named(
    approach: Path, tmp_path: Path
) -> None:
    windows = [
        {"from": 0.0, "to": 1.0, "verdict": "COLLISION"},  # wrong, and outside
        {"from": 0.0, "to": 1.5, "verdict": "FREE"},
        {"from": 3.5, "to": 4.0, "verdict": "COLLISION"},
    ]
    reactions = [{"at": 3.0, "verdict": "COLLISION", "within": 0.5}]
    stops = [{"from": 0.0, "to": 2.0, "at_most": 0.0}]
    expect = parse({"windows": windows, "reactions": reactions, "false_stops": stops})
    given = {"fault": "drop", "topic": "/obstacles", "from": 3.8, "status": "NO_OBSTACLES"}
    fault = FaultSpec.parse(given)
    case = Case("drive", approach, expect=tuple(expect), faults=(fault,))
    result = part(case, tmp_path, 1.2, 2.5)
    assert result.outcome is Outcome.PASSED
    assert [each["text"] for each in result.summary["expectations"]] == ["0 to 1.5 s: FREE"]
    left_out = [each for each in result.summary["notes"] if each.startswith("not tested")]
    assert len(left_out) == 5
    assert "not tested, because it is outside: COLLISION within 0.5 s after 3 s" in left_out
    result = part(Case("drive", approach, expect=tuple(expect[2:3])), tmp_path, 1.2, 2.5)
    assert outcome_text([result]) == "not judged"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--from", "2", "--to", "1"), "--to: must be > --from, which is 2 (got 1)"),
        (("--from", "2", "--to", "2"), "--to: must be > --from, which is 2 (got 2)"),
        (("--from", "-1"), "--from: must be >= 0 (got -1)"),
        (("--from", "nan"), "--from: must be >= 0 (got nan)"),
        (("--to", "nan"), "--to: must be > --from"),
        (("--from", "5"), "--from: must be <= 4.000000, the duration of approach in seconds"),
        (("--to", "4.1"), "--to: must be <= 4.000000, the duration of approach in seconds"),
    ],
)
def test_wrong_times_are_refused(
    words: tuple[str, ...], text: str, approach: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert main(["replay", str(approach), "--out", str(tmp_path), "--no-page", *words]) == 2
    shown = capsys.readouterr()
    assert text in shown.out + shown.err


def test_wrong_times_leave_the_earlier_reports(approach: Path, tmp_path: Path) -> None:
    """A mistyped time must not replace a result that took an hour."""
    command = ["replay", str(approach), "--out", str(tmp_path), "--quiet"]
    assert main(command) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "approach").iterdir()}
    for words in (("--to", "40"), ("--from", "40"), ("--to", "nan")):
        assert main([*command, *words]) == 2
    assert {path: path.read_bytes() for path in (tmp_path / "approach").iterdir()} == before


def test_the_whole_recording_may_be_named(approach: Path, tmp_path: Path) -> None:
    """Its end, as the page shows it."""
    out = tmp_path / "out"
    assert main(["replay", str(approach), "--out", str(out), "--from", "0", "--to", "4"]) == 0
    assert len(rows_of(out, "approach")) == 81
    assert "only stamps from 0 s to 4 s" in (out / "approach" / "index.html").read_text()


def test_incomplete_recording_is_reported_for_a_part_before_the_break(
    approach: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(next(approach.glob("*.mcap")).read_bytes()[:-100])
    result = part(Case("drive", cut), tmp_path, 1.0, 2.0)
    assert result.outcome is Outcome.BROKEN
    assert "the recording is incomplete" in result.failures[0]
    assert len(rows_of(tmp_path)) == 21
    summary = json.loads((tmp_path / "drive" / "summary.json").read_text())
    assert summary["outcome"] == "broken"

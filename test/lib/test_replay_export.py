# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The files that a replay writes for other programs: tables, and mcap for Foxglove."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from replays import rows_of
from write_scenarios import CAR, Road, at, steps, write

from gjk_collision.__main__ import main
from gjk_collision.replay.write import BagWriter
from gjk_collision.report.table import COLUMNS
from gjk_collision.server.obstacles import Obstacles

BIG = 2**62 + 1  # float64 does not hold it


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 s: no obstacle list, then a list without obstacles, then one with a large id."""
    bag = tmp_path_factory.mktemp("bags") / "drive"
    with BagWriter(bag) as writer:
        road = Road(writer)
        for t in steps(2.0):
            road.ego(t)
            if t >= 1.0:
                message = Obstacles(
                    frame="odom",
                    stamp=at(t),
                    sequence=round(t * 20),
                    ids=np.array([BIG] if t >= 1.5 else [], np.int64),
                    offsets=np.array([0, 4] if t >= 1.5 else [], np.uint32),
                    xy=np.ravel(CAR) + [20.1, 0.1] * 4 if t >= 1.5 else np.empty(0),
                )
                writer.obstacles(message)
    return bag


def replayed(bag: Path, out: Path, *words: str) -> int:
    return main(["replay", str(bag), "--out", str(out), "--no-page", "--quiet", *words])


def test_table_has_a_row_per_stamp_with_all_digits(drive: Path, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    assert replayed(drive, tmp_path, "--table", str(path)) == 0
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    rows = rows_of(tmp_path, "drive")
    assert [*found[0]] == [*COLUMNS]
    assert len(found) == len(rows)
    for i, (cells, row) in enumerate(zip(found, rows, strict=True)):
        assert int(cells["stamp"]) == i
        assert int(cells["log_time_ns"]) == row.time
        assert float(cells["time_s"]) == (row.time - at(0.0)) * 1e-9
        assert (cells["verdict"], cells["status"]) == (row.verdict.name, row.status.name)
        assert int(cells["nearest_id"]) == row.nearest_id
    last = found[-1]
    assert int(last["nearest_id"]) == BIG
    assert last["nearest_source"] == "obstacles"
    gap = 20.1 - 2.25 - 3.75
    assert float(last["distance_m"]) == pytest.approx(gap, abs=1e-12)
    assert float(last["distance_m"]) != rows[-1].distance, "results.jsonl is rounded"
    assert float(last["lower_bound_m"]) <= gap
    assert last["obstacle_age_s"] == "0.0"
    free = next(cells for cells in found if int(cells["log_time_ns"]) == at(1.2))
    assert (free["verdict"], free["distance_m"]) == ("FREE", "inf")
    assert found[0]["distance_m"] == "", "not computed"
    assert found[0]["bad_sources"] == "obstacles"


def test_table_of_a_part(drive: Path, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    assert replayed(drive, tmp_path, "--table", str(path), "--from", "1", "--to", "1.5") == 0
    assert len(path.read_text().splitlines()) == 1 + 11


def test_parquet_has_the_same_values_as_csv(drive: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    assert replayed(drive, tmp_path, "--table", str(tmp_path / "table.csv")) == 0
    assert replayed(drive, tmp_path, "--table", str(tmp_path / "table.parquet")) == 0
    found = parquet.read_table(tmp_path / "table.parquet").to_pylist()
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        texts = list(csv.DictReader(file))
    assert found[-1]["nearest_id"] == BIG
    assert found[0]["distance_m"] is None
    shown = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in found
    ]
    assert shown == texts


def test_parquet_needs_pyarrow(
    drive: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert replayed(drive, tmp_path, "--table", str(tmp_path / "t.parquet")) == 2
    text = capsys.readouterr().err
    assert "'pyarrow': pip install gjk_collision[table]; or use .csv" in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.xlsx", "--table: must end in .csv or .parquet"),
        ("no/t.csv", "does not exist"),
        ("there.csv", "there.csv exists: delete it, or use another name"),
    ],
)
def test_wrong_name_of_a_table(
    name: str, text: str, drive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there.csv").write_text("mine")
    assert replayed(drive, tmp_path / "out", "--table", str(tmp_path / name)) == 2
    assert text in capsys.readouterr().err
    assert (tmp_path / "there.csv").read_text() == "mine"
    assert not (tmp_path / "out").exists(), "refused before the replay"


def test_one_table_for_several_bags_is_refused(
    drive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(tmp_path, "approach")
    words: list[Any] = ["replay", str(drive), str(other), "--table", str(tmp_path / "t.csv")]
    assert main(words) == 2
    assert "must be used with one bag or case" in capsys.readouterr().err

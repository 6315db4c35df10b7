# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answers of a replay as a table, one row per stamp: CSV, or Parquet with pyarrow."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any

from ..replay.case_fields import CaseError
from ..replay.drive import Drive
from ..replay.rows import Row

__all__ = ["COLUMNS", "Table", "check_table"]


@dataclass(frozen=True, slots=True)
class _Line:
    """An answer with its number, its time after the begin of the bag [s] and the margin [m]."""

    number: int
    t: float
    margin: float
    row: Row


def _part(name: str, k: int) -> Callable[[_Line], float]:
    """Return the function for an element of a field of rows; NaN: the field is empty."""
    return lambda line: float(getattr(line.row, name)[k]) if getattr(line.row, name) else nan


# Name -> type in Parquet, and the value. Numbers have all their digits.
COLUMNS: dict[str, tuple[str, Callable[[_Line], int | float | str]]] = {
    "stamp": ("int64", lambda line: line.number),
    "time_s": ("float64", lambda line: line.t),
    "log_time_ns": ("int64", lambda line: line.row.time),
    "now_ns": ("int64", lambda line: line.row.now),
    "cause": ("string", lambda line: line.row.cause),
    "verdict": ("string", lambda line: line.row.verdict.name),
    "status": ("string", lambda line: line.row.status.name),
    "message": ("string", lambda line: line.row.message),
    "distance_m": ("float64", lambda line: float(line.row.distance)),
    "lower_bound_m": ("float64", lambda line: float(line.row.lower_bound)),
    "safety_margin_m": ("float64", lambda line: line.margin),
    "nearest_id": ("int64", lambda line: int(line.row.nearest_id)),
    "nearest_source": ("string", lambda line: line.row.nearest_source),
    "time_to_collision_s": ("float64", lambda line: float(line.row.time_to_collision)),
    "footprint_age_s": ("float64", lambda line: float(line.row.footprint_age)),
    "obstacle_age_s": ("float64", lambda line: float(line.row.obstacle_age)),
    "bad_sources": ("string", lambda line: " ".join(line.row.bad_sources)),
    "ego_x_m": ("float64", _part("ego", 0)),
    "ego_y_m": ("float64", _part("ego", 1)),
    "ego_yaw_rad": ("float64", _part("ego", 2)),
    "witness_ego_x_m": ("float64", _part("witness_ego", 0)),
    "witness_ego_y_m": ("float64", _part("witness_ego", 1)),
    "witness_obstacle_x_m": ("float64", _part("witness_obstacle", 0)),
    "witness_obstacle_y_m": ("float64", _part("witness_obstacle", 1)),
    "direction_x": ("float64", _part("direction", 0)),
    "direction_y": ("float64", _part("direction", 1)),
    "snapshot_id": ("uint64", lambda line: line.row.snapshot_id),
}

# Rows of one group in a Parquet file.
GROUP = 10_000


def check_table(path: Path) -> None:
    """Raise an error if a table of this name cannot be written here.

    Raises
    ------
    CaseError
        The name does not end in .csv or .parquet, or pyarrow is missing.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise CaseError(f"--table: must end in .csv or .parquet (got {path})")
    if path.suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            rule = "a .parquet file needs the Python package 'pyarrow'"
            text = f"{rule}: pip install gjk_collision[table]; or use .csv"
            raise CaseError(f"--table: {text} (got {path})") from error


class Table:
    """A table that is open for writing.

    Parameters
    ----------
    path : Path
        The file to write, .csv or .parquet. It must not exist.
    margin : float
        The safety margin of the replay [m].
    """

    def __init__(self, path: Path, margin: float) -> None:
        self._margin, self._count = margin, 0
        self._sheet = _Parquet(path) if path.suffix == ".parquet" else _Csv(path)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._sheet.close()

    def add(self, t: float, row: Row, drive: Drive) -> None:
        """Write the answer `row` at the time `t` [s] after the begin of the bag."""
        line = _Line(self._count, t, self._margin, row)
        self._sheet.write([value(line) for _, value in COLUMNS.values()])
        self._count += 1


class _Csv:
    def __init__(self, path: Path) -> None:
        self._file = path.open("x", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(COLUMNS)

    def write(self, values: list[int | float | str]) -> None:
        self._writer.writerow(
            "" if isinstance(each, float) and isnan(each) else each for each in values
        )

    def close(self) -> None:
        self._file.close()


class _Parquet:
    def __init__(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        self._arrow: Any = pyarrow
        self._file = path.open("xb")
        fields = [(name, getattr(pyarrow, kind)()) for name, (kind, _) in COLUMNS.items()]
        self._schema: Any = pyarrow.schema(fields)
        self._writer: Any = pyarrow.parquet.ParquetWriter(self._file, self._schema)
        self._rows: list[list[int | float | str]] = []

    def write(self, values: list[int | float | str]) -> None:
        self._rows.append(values)
        if len(self._rows) == GROUP:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()
        self._file.close()

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True)
        arrays = [
            self._arrow.array(column, field.type, from_pandas=True)  # NaN becomes null
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows.clear()

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answers of a replay as a table, one row per stamp: CSV, or Parquet with pyarrow."""

import csv
from math import isnan, nan
from pathlib import Path
from typing import Any

from ..replay.case_fields import CaseError
from ..replay.drive import Drive
from ..replay.rows import Row

__all__ = ["COLUMNS", "Table", "check_table"]

# Name -> type in Parquet. Numbers have all their digits.
COLUMNS = {
    "stamp": "int64",
    "time_s": "float64",
    "log_time_ns": "int64",
    "now_ns": "int64",
    "cause": "string",
    "verdict": "string",
    "status": "string",
    "message": "string",
    "distance_m": "float64",
    "lower_bound_m": "float64",
    "safety_margin_m": "float64",
    "nearest_id": "int64",
    "nearest_source": "string",
    "time_to_collision_s": "float64",
    "footprint_age_s": "float64",
    "obstacle_age_s": "float64",
    "bad_sources": "string",
    "ego_x_m": "float64",
    "ego_y_m": "float64",
    "ego_yaw_rad": "float64",
    "witness_ego_x_m": "float64",
    "witness_ego_y_m": "float64",
    "witness_obstacle_x_m": "float64",
    "witness_obstacle_y_m": "float64",
    "direction_x": "float64",
    "direction_y": "float64",
    "snapshot_id": "uint64",
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
        self._sheet.write(_values(self._count, t, row, self._margin))
        self._count += 1


def _values(index: int, t: float, row: Row, margin: float) -> list[int | float | str]:
    """Return the values of `COLUMNS`."""
    return [
        index,
        t,
        row.time,
        row.now,
        row.cause,
        row.verdict.name,
        row.status.name,
        row.message,
        float(row.distance),
        float(row.lower_bound),
        margin,
        int(row.nearest_id),
        row.nearest_source,
        float(row.time_to_collision),
        float(row.footprint_age),
        float(row.obstacle_age),
        " ".join(row.bad_sources),
        *_numbers(row.ego, 3),
        *_numbers(row.witness_ego, 2),
        *_numbers(row.witness_obstacle, 2),
        *_numbers(row.direction, 2),
        row.snapshot_id,
    ]


def _numbers(values: tuple[float, ...], count: int) -> list[float]:
    return [*map(float, values)] if values else [nan] * count


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
        fields = [(name, getattr(pyarrow, kind)()) for name, kind in COLUMNS.items()]
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

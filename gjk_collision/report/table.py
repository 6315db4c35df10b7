# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The answers of a replay as a table, one row per stamp: CSV, or Parquet with pyarrow."""

import csv
from math import isnan, nan
from pathlib import Path
from typing import Any

from ..replay.case_fields import CaseError
from ..replay.drive import Drive
from ..replay.golden import Comparison
from ..replay.rows import Row

__all__ = ["COLUMNS", "Table", "check_table"]

COLUMNS = (
    "stamp", "time_s", "log_time_ns", "now_ns", "cause", "verdict", "status", "message",
    "distance_m", "lower_bound_m", "safety_margin_m", "nearest_id", "nearest_source",
    "time_to_collision_s", "footprint_age_s", "obstacle_age_s", "bad_sources",
    "ego_x_m", "ego_y_m", "ego_yaw_rad", "witness_ego_x_m", "witness_ego_y_m",
    "witness_obstacle_x_m", "witness_obstacle_y_m", "direction_x", "direction_y", "snapshot_id",
)  # fmt: skip

# Types in Parquet; of the other columns it is float64.
_TYPES = {
    **dict.fromkeys(("stamp", "log_time_ns", "now_ns", "nearest_id"), "int64"),
    **dict.fromkeys(
        ("cause", "verdict", "status", "message", "nearest_source", "bad_sources"), "string"
    ),
    "snapshot_id": "uint64",
}

# Rows of one group in a Parquet file.
GROUP = 10_000

Cell = int | float | str


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
    """

    def __init__(self, path: Path) -> None:
        self._count = 0
        self._sheet = _Parquet(path) if path.suffix == ".parquet" else _Csv(path)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._sheet.close()

    def add(self, t: float, row: Row, drive: Drive, change: Comparison | None) -> None:
        """Write the answer `row` at the time `t` [s], unless it is that of a recorded request."""
        if not row.is_state:
            return
        margin = drive.snapshot.config.safety_margin
        self._sheet.write(
            [
                *(self._count, t, row.time, row.now),
                *(row.cause, row.verdict.name, row.status.name, row.message),
                *(float(row.distance), float(row.lower_bound), margin),
                *(int(row.nearest_id), row.nearest_source, float(row.time_to_collision)),
                *(float(row.footprint_age), float(row.obstacle_age), " ".join(row.bad_sources)),
                *(row.ego or (nan, nan, nan)),
                *(row.witness_ego or (nan, nan)),
                *(row.witness_obstacle or (nan, nan)),
                *(row.direction or (nan, nan)),
                row.snapshot_id,
            ]
        )
        self._count += 1


class _Csv:
    def __init__(self, path: Path) -> None:
        self._file = path.open("x", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(COLUMNS)

    def write(self, values: list[Cell]) -> None:
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
        fields = [(name, getattr(pyarrow, _TYPES.get(name, "float64"))()) for name in COLUMNS]
        self._schema: Any = pyarrow.schema(fields)
        self._writer: Any = pyarrow.parquet.ParquetWriter(self._file, self._schema)
        self._rows: list[list[Cell]] = []

    def write(self, values: list[Cell]) -> None:
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

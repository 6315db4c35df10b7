# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The files for other programs to which a replay writes its answers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..replay.drive import Drive
from ..replay.fields import CaseError
from ..replay.rows import Row
from ..server.config import Config
from .table import Table, check_table

__all__ = ["Exports"]


@dataclass(frozen=True)
class Exports:
    """The files to write; None: not written.

    Attributes
    ----------
    table : Path or None
        A table of the answers, .csv or .parquet.
    """

    table: Path | None = None

    def check(self) -> None:
        """Raise an error if a file cannot be written. An existing file could be a recording.

        Raises
        ------
        CaseError
            A file exists, its name has a wrong ending, or a package is missing.
        """
        if self.table is not None:
            check_table(self.table)
        for option, path in self._given().items():
            if path.exists():
                raise CaseError(f"{option}: {path} exists: delete it, or use another name")
            if not path.parent.is_dir():
                raise CaseError(f"{option}: the folder {path.parent} does not exist")

    @contextmanager
    def opened(self, config: Config) -> Iterator[Callable[[float, Row, Drive], None]]:
        """Yield a function that writes an answer at a time [s] after the begin of the bag."""
        with ExitStack() as stack:
            writers: list[Table] = []
            if self.table is not None:
                writers.append(stack.enter_context(Table(self.table, config.safety_margin)))

            def add(t: float, row: Row, drive: Drive) -> None:
                for each in writers if row.is_state else ():
                    each.add(t, row, drive)

            yield add

    def _given(self) -> dict[str, Path]:
        """Return option -> path of the files to write."""
        every = {"--table": self.table}
        return {option: path for option, path in every.items() if path is not None}

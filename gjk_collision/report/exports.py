# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The files for other programs to which a replay writes its answers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..replay.case_fields import CaseError
from ..replay.drive import Drive
from ..replay.golden import Comparison
from ..replay.rows import Row
from .answer_file import AnswerFile
from .table import Table, check_table

__all__ = ["Export", "Exports"]

Export = Callable[[float, Row, Drive, Comparison | None], None]


@dataclass(frozen=True)
class Exports:
    """The files to write; None: not written.

    Attributes
    ----------
    table : Path or None
        A table of the answers, .csv or .parquet.
    mcap : Path or None
        A recording of the answers, .mcap.
    """

    table: Path | None = None
    mcap: Path | None = None

    def check(self) -> None:
        """Raise an error if a file cannot be written. An existing file could be a recording.

        Raises
        ------
        CaseError
            A file exists, or its name has a wrong ending, or pyarrow is missing.
        ModuleNotFoundError
            mcap is missing.
        """
        if self.table is not None:
            check_table(self.table)
        if self.mcap is not None:
            import mcap  # noqa: F401

            if self.mcap.suffix != ".mcap":
                raise CaseError(f"--mcap: must end in .mcap (got {self.mcap})")
        for option, path in self.given.items():
            if path.exists() or path.is_symlink():
                raise CaseError(f"{option}: {path} exists: delete it, or use another name")
            if not path.parent.is_dir():
                raise CaseError(f"{option}: the folder {path.parent} does not exist")

    @contextmanager
    def opened(self) -> Iterator[Export]:
        """Yield a function that writes an answer at a time [s] after the begin of the bag."""
        with ExitStack() as stack:
            writers: list[Table | AnswerFile] = []
            try:
                if self.table is not None:
                    writers.append(stack.enter_context(closing(Table(self.table))))
                if self.mcap is not None:
                    writers.append(stack.enter_context(closing(AnswerFile(self.mcap))))
            except OSError as error:
                *made, (option, path) = list(self.given.items())[: len(writers) + 1]
                for _, other in made:
                    other.unlink()
                raise CaseError(f"{option}: {path} cannot be written: {error}") from error

            def add(t: float, row: Row, drive: Drive, change: Comparison | None) -> None:
                for each in writers:
                    each.add(t, row, drive, change)

            yield add

    @property
    def given(self) -> dict[str, Path]:
        """Return option -> path of the files to write."""
        every = {"--table": self.table, "--mcap": self.mcap}
        return {option: path for option, path in every.items() if path is not None}

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the replay tests share: one case run into a folder, and its rows read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gjk_collision.replay.case import Case
from gjk_collision.replay.golden import read_rows
from gjk_collision.replay.rows import Row
from gjk_collision.report.outcome import Result
from gjk_collision.report.run import Options, run
from gjk_collision.server.config import Config

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def replay(
    bag: Path, out: Path, name: str = "drive", golden: Path | None = None, **fields: Any
) -> Result:
    """Replay a bag without its page."""
    parameters = fields.pop("parameters", {})
    case = Case(name, bag, Config.from_parameters(parameters), **fields)
    return run(case, out, Options(golden, page=False))


def rows_of(out: Path, name: str = "drive") -> list[Row]:
    return list(read_rows(out / name / "results.jsonl"))

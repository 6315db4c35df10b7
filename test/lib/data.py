# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Third-party cases on disk: where they are, and the reason to skip when they are not there."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

DATA = Path(
    os.environ.get("GJK_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no test data at {DATA} (set GJK_TEST_DATA to its folder)"
)

SCENES = (
    "DEU_A9-3_1_T-1",
    "DEU_Flensburg-10_1_T-1__cv",
    "OSC_PedestrianCollision-1_1_T-1",
    "USA_US101-3_3_T-1",
    "USA_US101-3_3_T-1__cv",
    "ZAM_Loading_Bay-1_1_T__cv0",
    "ZAM_Tjunction-1_97_T-1__cv",
    "nuplan_col__multiple_collisions",
    "nuplan_col__no_collision",
)


def load(name: str) -> Any:
    """The parsed file, which must be there where the folder is; else an empty list of cases."""
    if not DATA.is_dir():
        return {"cases": []}
    with (DATA / name).open(encoding="utf-8") as file:
        return json.load(file)


def cases_of(name: str) -> list[Any]:
    """The cases of a file as pytest parameters, named by their own ids."""
    return [pytest.param(case, id=case["id"]) for case in load(name)["cases"]]

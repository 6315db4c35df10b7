# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How hypothesis searches, and fixtures of several files.

Where CI is set, hypothesis searches the same examples each time, so that a change is judged by its
own. Else it searches anew in each run.
"""

import os

import pytest
from hypothesis import settings
from worlds import Time

settings.register_profile(
    "gjk",
    deadline=None,
    database=None,
    print_blob=True,
    max_examples=150,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("gjk")


@pytest.fixture
def time() -> Time:
    """Both clocks, to be moved by hand."""
    return Time()

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""How hypothesis searches: anew in each run.

Where CI is set, for the same examples each time, so that a change is judged by its own.
"""

import os

from hypothesis import settings

settings.register_profile(
    "gjk",
    deadline=None,
    database=None,
    print_blob=True,
    max_examples=150,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("gjk")

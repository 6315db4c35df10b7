# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of replays: a summary as JSON, a text, JUnit XML, and an interactive HTML page.

The page needs Jinja2 (``pip install gjk_collision[replay]``). The progress bar uses rich if it is
installed.
"""

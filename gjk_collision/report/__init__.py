# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of replays: a summary as JSON, a text, JUnit XML, and an interactive HTML page.

The page needs Jinja2, which is in the extra ``replay``.
"""

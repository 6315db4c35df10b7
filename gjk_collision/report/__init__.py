# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What has come out of replays: a summary for machines, a text, a page to look into.

The page needs Jinja2 (``pip install gjk_collision[replay]``); the progress bar uses rich where it
is installed.
"""

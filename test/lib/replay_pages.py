# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of a replay's page share: a drive with cars, frames, and what a page says."""

import json
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
from browser import browse
from write_scenarios import CAR, at

from gjk_collision.replay.rows import Row
from gjk_collision.report.film import Film
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.data.snapshot import empty_snapshot
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict


def cars(
    t: float, places: Sequence[Pose], frame: str = "odom", paths: Sequence[Any] = (), **more: Any
) -> Obstacles:
    """A list of cars; a path is rows of time, x, y, yaw."""
    n = len(places)
    rows = np.array([row for path in paths for row in path], float).reshape(-1, 4)
    if paths:
        more["path_offsets"] = np.cumsum([0, *map(len, paths)])
        more["path_times"], more["path_poses"] = rows[:, 0].copy(), rows[:, 1:].ravel()
    return Obstacles(
        frame=frame,
        stamp=at(t),
        sequence=round(20 * t) + 1,
        ids=np.arange(1, n + 1),
        offsets=np.arange(0, len(CAR) * n + 1, len(CAR)),
        xy=np.tile(np.ravel(CAR), n),
        poses=np.ravel(places),
        **more,
    )


def data_of(page: Path) -> Any:
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    return json.loads(found[1])


def told(page: Path, script: str, folder: Path) -> Any:
    text = page.read_text(encoding="utf-8")
    run_it = f"<script>document.title = JSON.stringify((() => {{ {script} }})());</script></body>"
    (folder / "told.html").write_text(text.replace("</body>", run_it), encoding="utf-8")
    dom = browse(folder / "told.html", fragment="#t=0.5")
    assert 'data-ready="yes"' in dom, "the script did not come to its end"
    found = re.search(r"<title>(.*?)</title>", dom)
    assert found
    return json.loads(unescape(found[1]))


def assert_not_scrolled(page: Path, widths: Sequence[int]) -> None:
    """Check that no width of a window [px] scrolls a page sideways.

    A window of Chromium has 500 px at least, so the page is in frames.
    """
    text = page.read_text(encoding="utf-8")
    tell = "document.documentElement.dataset.wide = document.documentElement.scrollWidth"
    if "script-src" not in text:  # of the overview
        allowed = "default-src 'none'; script-src 'unsafe-inline';"
        text = text.replace("default-src 'none';", allowed, 1)
    text = text.replace("</body>", f"<script>{tell}</script></body>")
    (page.parent / "narrow.html").write_text(text, encoding="utf-8")
    style = '<iframe src="narrow.html" style="width: {}px; border: 0"></iframe>'
    frames = "".join(map(style.format, widths))
    collect = (
        "onload = () => document.title = [...document.querySelectorAll('iframe')]"
        ".map((each) => each.contentDocument.documentElement.dataset.wide).join(' ')"
    )
    framed = page.parent / "framed.html"
    framed.write_text(f"<title></title>{frames}<script>{collect}</script>")
    dom = browse(framed)
    assert f"<title>{' '.join(map(str, widths))}</title>" in dom


def fact(dom: str, name: str) -> str:
    found = re.search(rf"<dt>{name}</dt><dd>(.*?)</dd>", dom)
    assert found, f"the page does not tell the {name}"
    return re.sub(r"<.*?>", "", found[1])


def summary_of(name: str) -> dict[str, Any]:
    """The summary of a replay that compares its answers with nothing."""
    return {
        "name": name, "outcome": "passed", "failures": [], "failure_times": [], "notes": [],
        "expectations": [], "golden": None, "events": {"count": 0, "kept": []},
    }  # fmt: skip


class StillDrive:
    """A drive of nothing: the frames of its rows have verdicts, but no shapes."""

    snapshot = empty_snapshot(Config(), Fault(Status.NO_FOOTPRINT, ""), 0)


def filmed(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    film = Film(StillDrive())  # type: ignore[arg-type]
    for i, verdict in enumerate(verdicts):
        film.add(i * 0.05, Row(i, i, "data", verdict, Status.SUCCESS, distance=100.0 - i % 97))
    return film.to_dict()

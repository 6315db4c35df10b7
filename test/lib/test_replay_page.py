# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a replay, in a real browser: it runs from a file, by keyboard, in light and dark."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from data import DATA, needs_data
from replays import SCENARIOS
from write_scenarios import write

from gjk_collision.replay.case import read_cases
from gjk_collision.replay.record import record
from gjk_collision.report.film import MAX_BINS, MAX_FRAMES, Timeline
from gjk_collision.report.many import run_all
from gjk_collision.report.outcome import Outcome
from gjk_collision.report.run import Options
from gjk_collision.server.config import Config

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium on this machine (Debian package chromium)"
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    wanted = ("approach", "dropout")
    for name in wanted:
        write(folder, name)
    every = read_cases(SCENARIOS / "scenarios.yaml", Config(), folder)
    cases = [case for case in every if case.name in wanted]
    results = run_all(cases, folder / "out", Options())
    assert [result.outcome for result in results] == [Outcome.PASSED] * 2
    return folder / "out"


def browse(page: Path, *options: str, fragment: str = "") -> str:
    """Let the browser run a page; return what has become of it."""
    command = [
        str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--window-size=1400,1150", "--virtual-time-budget=3000",
        f"--user-data-dir={page.parent}/browser", *options, "--dump-dom", page.as_uri() + fragment,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    return done.stdout


def fact(dom: str, name: str) -> str:
    found = re.search(rf"<dt>{name}</dt><dd>(.*?)</dd>", dom)
    assert found, f"the page does not tell the {name}"
    return re.sub(r"<.*?>", "", found[1])


class Links(HTMLParser):
    """Collects whatever a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = ("src", "href", "action", "data", "poster", "srcset")
        self.found += [value or "" for name, value in attrs if name in names]


def test_page_needs_nothing_else(pages: Path) -> None:
    text = (pages / "approach" / "index.html").read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    assert links.found == ["data:,"]
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|WebSocket", text)


@needs_browser
def test_page_shows_the_asked_stamp(pages: Path) -> None:
    dom = browse(pages / "approach" / "index.html", fragment="#t=3.2")
    assert 'data-ready="yes"' in dom, "the script did not come to its end"
    assert fact(dom, "verdict") == "MARGIN"
    assert fact(dom, "distance") == "0.8000 m"
    assert fact(dom, "nearest") == "1 of obstacles"
    assert "3.200 s, stamp 64" in dom


@needs_browser
@pytest.mark.parametrize(
    ("keys", "time", "verdict"),
    [
        (["ArrowRight"] * 2, "0.1", "FREE"),
        (["n"], "3.2", "MARGIN"),
        (["n", "n"], "3.35", "COLLISION"),
        (["End", "p"], "3.35", "COLLISION"),
        (["End", "Home", "Shift+ArrowRight"], "0.5", "FREE"),
        (["n", "+", "-", "0", "f"], "3.2", "MARGIN"),
    ],
)
def test_page_by_keyboard(
    keys: list[str], time: str, verdict: str, pages: Path, tmp_path: Path
) -> None:
    press = "".join(
        "document.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, "
        f"key: '{key.removeprefix('Shift+')}', shiftKey: {str('Shift' in key).lower()}}}));"
        for key in keys
    )
    text = (pages / "approach" / "index.html").read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(
        text.replace("</body>", f"<script>{press}</script></body>")
    )
    dom = browse(tmp_path / "page.html")
    assert f'data-time="{time}"' in dom
    assert fact(dom, "verdict") == verdict


@needs_browser
def test_page_tells_of_unknown(pages: Path) -> None:
    dom = browse(pages / "dropout" / "index.html", fragment="#t=3")
    assert fact(dom, "verdict") == "UNKNOWN"
    assert fact(dom, "status") == "STALE_OBSTACLES"
    assert "limit 0.5 s" in fact(dom, "message")
    assert fact(dom, "bad sources") == "obstacles"


@needs_browser
def test_screenshots_in_light_and_dark(pages: Path, tmp_path: Path) -> None:
    shots = []
    for scheme in ("light", "dark"):
        shots.append(tmp_path / f"{scheme}.png")
        dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
        browse(pages / "approach" / "index.html", f"--screenshot={shots[-1]}", *dark)
    light, dark = (shot.read_bytes() for shot in shots)
    assert light[:4] == dark[:4] == b"\x89PNG"
    assert min(len(light), len(dark)) > 30_000, "a picture of nothing is smaller"
    assert light != dark


@needs_browser
def test_overview_leads_to_the_pages(pages: Path) -> None:
    dom = browse(pages / "index.html")
    assert "none failed" in dom
    for name in ("approach", "dropout"):
        assert f'href="{name}/index.html"' in dom


@needs_browser
@needs_data
def test_page_of_utm_coordinates(tmp_path: Path) -> None:
    """Great coordinates are drawn about an origin near by, and told whole."""
    record(DATA / "scenes" / "nuplan_col__multiple_collisions.json", tmp_path / "bag")
    cases = read_cases(tmp_path / "bag", Config())
    run_all(cases, tmp_path / "out", Options())
    dom = browse(tmp_path / "out" / "bag" / "index.html", fragment="#t=1")
    assert fact(dom, "vehicle").startswith("66475")


@needs_browser
def test_page_of_a_broken_bag(tmp_path: Path) -> None:
    """Nothing to show is shown as such, with the reason."""
    (tmp_path / "broken.mcap").write_bytes(b"\x89MCAP0\r\n")
    run_all(read_cases(tmp_path / "broken.mcap", Config()), tmp_path / "out", Options())
    dom = browse(tmp_path / "out" / "broken" / "index.html")
    assert 'data-ready="yes"' in dom
    assert "cannot be read as a bag" in dom


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    """A topic, a frame or a message is somebody else's text."""
    from gjk_collision.report.page import page

    evil = "</script><script>alert(1)</script><b>"
    summary: dict[str, Any] = {
        "name": evil, "outcome": "failed", "failures": [evil], "notes": [evil], "expectations": [],
        "golden": None, "timing": {"latency_us": {"bins": []}},
    }  # fmt: skip
    film = {"stride": 1, "origin": [0, 0], "outlines": [], "frames": [{"m": evil}]}
    text = page(summary, [], film)
    assert evil not in text
    assert text.count("<script") == 2


def test_page_stays_small(tmp_path: Path) -> None:
    """Bins and frames are bounded, so that an hour's page opens as a minute's does."""
    from gjk_collision.replay.rows import Row
    from gjk_collision.verdict import Status, Verdict

    timeline = Timeline()
    for i in range(50_000):
        verdict = Verdict.COLLISION if i == 31_234 else Verdict.FREE
        timeline.add(i * 0.05, Row(i, i, "data", verdict, Status.SUCCESS, distance=i % 97))
    bins = timeline.to_list()
    assert MAX_BINS <= len(bins) < 2 * MAX_BINS
    assert [row[1] for row in bins].count(int(Verdict.COLLISION)) == 1, "no hit is averaged away"
    assert MAX_FRAMES > 0

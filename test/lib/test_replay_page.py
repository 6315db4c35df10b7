# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a replay, in a real browser: it runs from a file, by keyboard, in light and dark."""

import re
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from browser import browse, needs_browser, pressed, with_script
from replay_pages import assert_not_scrolled, fact, filmed, summary_of
from replays import SCENARIOS
from write_scenarios import write

from gjk_collision.__main__ import main
from gjk_collision.replay.case import read_cases
from gjk_collision.replay.rows import Row
from gjk_collision.report.film import MAX_FRAMES
from gjk_collision.report.many import run_all
from gjk_collision.report.outcome import Outcome, Result
from gjk_collision.report.page import overview, page, render
from gjk_collision.report.run import Options
from gjk_collision.report.timeline import Timeline
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict


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
    assert [each for each in links.found if not each.startswith("#t=")] == ["data:,"]
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|WebSocket", text)


@needs_browser
def test_page_shows_the_asked_stamp(pages: Path) -> None:
    dom = browse(pages / "approach" / "index.html", fragment="#t=3.2")
    assert 'data-ready="yes"' in dom, "the script did not come to its end"
    assert fact(dom, "verdict") == "MARGIN"
    assert fact(dom, "distance") == "0.8000 m"
    assert fact(dom, "nearest") == "obstacle 1 of obstacles"
    assert "3.200 s, stamp 64" in dom


@needs_browser
@pytest.mark.parametrize(
    ("keys", "time", "verdict"),
    [
        (["Home", "ArrowRight", "ArrowRight"], "0.1", "FREE"),
        ([], "3.35", "COLLISION"),  # the most severe event
        (["Home", "n"], "3.2", "MARGIN"),
        (["Home", "n", "n"], "3.35", "COLLISION"),
        (["End", "p"], "3.35", "COLLISION"),
        (["End", "Home", "Shift+ArrowRight"], "0.5", "FREE"),
        (["Home", "n", "+", "-", "0"], "3.2", "MARGIN"),
    ],
)
def test_page_by_keyboard(
    keys: list[str], time: str, verdict: str, pages: Path, tmp_path: Path
) -> None:
    page = pages / "approach" / "index.html"
    dom = browse(with_script(page, tmp_path / "page.html", pressed(*keys)))
    assert f'data-time="{time}"' in dom
    assert fact(dom, "verdict") == verdict


@needs_browser
def test_page_tells_of_unknown(pages: Path) -> None:
    dom = browse(pages / "dropout" / "index.html", fragment="#t=3")
    assert fact(dom, "verdict") == "UNKNOWN"
    assert fact(dom, "status") == "STALE_OBSTACLES"
    assert "limit 0.5 s" in fact(dom, "message")


@needs_browser
def test_overview_leads_to_the_pages(pages: Path) -> None:
    dom = browse(pages / "index.html")
    assert "none failed" in dom
    for name in ("approach", "dropout"):
        assert f'href="{name}/index.html"' in dom


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
    evil = "</script><script>alert(1)</script><b>"
    check = {"text": evil, "failure": evil, "from": 0.0, "to": None, "at": None}
    event = {"from": 0.0, "to": 1.0, "stamps": 2, "times": 1, "what": evil, "why": evil, "rank": 0}
    summary = summary_of(evil) | {
        "failures": [evil], "failure_times": [0.0], "notes": [evil], "expectations": [check],
        "golden": {"names": [evil, evil], "parameters": [[evil, evil, None]], "why": [evil]},
        "events": {"count": 1, "kept": [event]},
    }  # fmt: skip
    film = {"end": 0.0, "origin": [0, 0], "outlines": [], "frames": [{"m": evil}]}
    text = page(summary, Timeline([evil]).to_dict(), film)
    assert evil not in text
    assert text.count("<script") == 2


@pytest.mark.parametrize("every", [1, 2, 3, 7, 40, 333])
def test_each_stamp_has_a_frame_that_is_no_better(every: int) -> None:
    """However often the verdict changes, no stamp opens on a frame of a better verdict."""
    order = (Verdict.FREE, Verdict.MARGIN, Verdict.UNKNOWN, Verdict.COLLISION)
    verdicts = [order[i // every % 3 + i // every % 2] for i in range(9_000)]
    frames = filmed(verdicts)["frames"]
    assert len(frames) < 2 * MAX_FRAMES
    firsts = [frame["first"] for frame in frames]
    counts = [frame["n"] for frame in frames]
    assert firsts == [0, *np.cumsum(counts)[:-1]] and sum(counts) == len(verdicts)
    for frame in frames:
        own = verdicts[frame["first"] : frame["first"] + frame["n"]]
        assert frame["v"] == max(own, key=order.index) == verdicts[frame["i"]]
        assert frame["begin"] == pytest.approx(frame["first"] * 0.05)
    changes = {i for i in range(1, len(verdicts)) if verdicts[i] is not verdicts[i - 1]}
    if len(changes) < MAX_FRAMES / 2:  # each is seen where it is
        assert changes <= set(firsts)


def test_closest_approach_has_a_frame() -> None:
    film = filmed([Verdict.FREE] * 5_000)
    assert min(frame["d"] for frame in film["frames"]) == 4.0


def contrast(one: str, other: str) -> float:
    """WCAG 2.2: ratio of the relative luminances of two colours, #rrggbb."""

    def luminance(colour: str) -> float:
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_have_the_contrast_of_wcag_aa(scheme: int) -> None:
    """4.5 for text, 3 for graphics and for the edges of controls."""
    style = render("colours.css", selector=":root")
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", style.split("@media (prefers")[0]))
    if scheme == 1:
        dark = style.split("@media (prefers")[1]
        colours.update(re.findall(r"--([\w-]+): (#\w{6})", dark))
    verdicts = [each.name for each in Verdict]
    for least, above, below in (
        (4.5, ("ink", "faint", "focus"), ("ground", "panel")),
        (3.0, (*verdicts, "blue", "purple", "edge"), ("ground", "panel")),
        (4.5, ("ink",), ("grid",)),  # the ground of penetration
        (3.0, ("ink", "purple", "edge", "COLLISION", "focus"), ("grid",)),
        (3.0, verdicts, ("mark",)),  # the lines of the patterns
    ):
        for one, other in product(above, below):
            assert contrast(colours[one], colours[other]) >= least, (one, other)


@needs_browser
def test_legend_shows_height_and_pattern(pages: Path) -> None:
    dom = browse(pages / "approach" / "index.html")
    legend = re.search(r'id="legend">(.*?)</div>', dom)
    assert legend and legend[1].count('<canvas class="key"') == len(Verdict) + 2  # distance, age
    for each in Verdict:
        assert f"</canvas>{each.name}<" in legend[1]


@needs_browser
@pytest.mark.parametrize("name", ["approach/index.html", "index.html"])
def test_a_narrow_screen_is_not_scrolled_sideways(name: str, pages: Path) -> None:
    assert_not_scrolled(pages / name, [390])


def test_overview_starts_with_the_worst() -> None:
    def result(name: str, outcome: Outcome, collisions: int, closest: float | None) -> Result:
        verdicts = {each.name: 0 for each in Verdict} | {"COLLISION": collisions}
        near = None if closest is None else {"distance": closest}
        return Result(name, outcome, [], {"stamps": 9, "verdicts": verdicts, "closest": near})

    text = overview([
        result("far", Outcome.PASSED, 0, 8.0),
        result("empty", Outcome.PASSED, 0, None),
        result("near", Outcome.PASSED, 0, 0.5),
        result("hit", Outcome.PASSED, 3, -0.1),
        result("failed", Outcome.FAILED, 0, 3.0),
        Result("broken", Outcome.BROKEN, ["cannot be read"]),
    ])  # fmt: skip
    order = re.findall(r"<tr>\n<td>(?:<a [^>]*>)?(\w+)", text)
    assert order == ["broken", "failed", "hit", "near", "far", "empty"]


@needs_browser
@pytest.mark.parametrize("changes", [90, 2_000])
def test_page_opens_on_the_verdict_of_the_timeline(changes: int, tmp_path: Path) -> None:
    verdicts = [(Verdict.FREE, Verdict.COLLISION)[i // 3 % 2] for i in range(3 * changes)]
    timeline = Timeline()
    for i, verdict in enumerate(verdicts):
        timeline.add(i * 0.05, Row(i, i, "data", verdict, Status.SUCCESS))
    text = page(summary_of("flicker"), timeline.to_dict(), filmed(verdicts))
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    stamp = 3 * changes - 2
    assert verdicts[stamp] is Verdict.COLLISION
    dom = browse(tmp_path / "page.html", fragment=f"#t={stamp * 0.05:.3f}")
    assert fact(dom, "verdict") == "COLLISION"


@needs_browser
def test_a_time_means_one_stamp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page and ``trace --at`` show the last stamp at or before a time."""
    bag = write(tmp_path, "street")
    run_all(read_cases(bag, Config()), tmp_path / "out", Options())
    for seconds in ("0", "4.7", "4.72", "4.75", "7.95"):
        dom = browse(tmp_path / "out" / bag.name / "index.html", fragment=f"#t={seconds}")
        shown = re.search(r'id="time"[^>]*>([\d.]+) s, stamp (\d+)<', dom)
        assert shown
        for asked in {seconds, shown[1]}:  # the time that the page shows leads to the same stamp
            assert main(["trace", str(bag), "--at", asked]) == 0
            text = capsys.readouterr().out
            assert f", stamp {shown[2]} at {float(shown[1]):g} s: " in text

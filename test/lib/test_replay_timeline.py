# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The timeline of a replay's page, and the comparison of two results on it."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import NPM, browse, needs_browser, needs_npm, pressed, with_script
from replay_pages import assert_not_scrolled, fact, filmed, summary_of, told
from replays import SCENARIOS, with_requests
from write_scenarios import write

from gjk_collision.__main__ import main
from gjk_collision.replay.case import read_cases
from gjk_collision.replay.golden import LABELS, Comparison, Golden
from gjk_collision.replay.rows import Row
from gjk_collision.report import timeline as timeline_module
from gjk_collision.report.many import run_all
from gjk_collision.report.page import page
from gjk_collision.report.run import Options
from gjk_collision.report.timeline import Timeline
from gjk_collision.server.data.faults import Fault
from gjk_collision.server.data.snapshot import Report
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status, Verdict

PARAMETERS = """
collision_server:
  ros__parameters:
    safety_margin: %s
    footprint_timeout: 2.0
"""


def parameter_files(folder: Path, *margins: float) -> list[str]:
    """Write a file for each margin, with its name; return the options that name them."""
    for margin in margins:
        (folder / f"{margin}.yaml").write_text(PARAMETERS % margin)
    return [word for m in margins for word in ("--params", str(folder / f"{m}.yaml"))]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a scenario with a fault, and that of a comparison of two margins."""
    folder = tmp_path_factory.mktemp("timelines")
    write(folder, "street")
    (folder / "street.yaml").write_text(
        "name: faulty\nbag: street\nparameters: {safety_margin: 0.5}\n"
        "expect:\n  windows: [{from: 0.0, to: 4.6, verdict: FREE}]\n"
        "  false_stops: [{from: 0.0, to: 4.9, at_most: 0.01}]\n"
        "faults:\n  - {fault: drop, topic: /obstacles, from: 6.0, to: 7.0, after: 0.6,"
        " status: STALE_OBSTACLES}\n"
    )
    run_all(read_cases(folder / "street.yaml", Config()), folder / "out", Options())
    files = parameter_files(folder, 0.1, 0.9)
    out = ["--quiet", "--out", str(folder / "out")]
    assert main(["replay", str(folder / "street"), *files, *out]) == 1
    return folder / "out"


def acted(page: Path, tmp_path: Path, *scripts: str) -> str:
    script = "".join(scripts)
    return browse(with_script(page, tmp_path / "page.html", f"{{{script}}}"))  # a block


def values(dom: str) -> str:
    found = re.search(r'id="values"[^>]*>(.*?)</div>', dom)
    assert found
    return re.sub(r"<.*?>", "|", found[1])


def shown(dom: str) -> tuple[float, float]:
    found = re.search(r'data-shown="([\d.]+) ([\d.]+)"', dom)
    assert found, "the timeline was not zoomed"
    return float(found[1]), float(found[2])


# ---- data


def test_columns_hold_every_stamp() -> None:
    distances = [3.0, np.nan, -0.25, np.inf, 1.5]
    timeline = Timeline(["lidar"])
    for i, distance in enumerate(distances):
        fault = None if i < 3 else Fault(Status.STALE_OBSTACLES, "old")
        reports = [
            Report("lidar", "a", None, age=0.01 * i), Report("lidar", "b", fault, age=0.002 * i),
            Report("radar", "c", None, age=9.0),
        ]  # fmt: skip
        verdict = Verdict.UNKNOWN if i == 1 else Verdict.FREE
        row = Row(i, i, "data", verdict, Status.SUCCESS, distance=distance)
        timeline.add(i * 0.05, row, reports)
    data = timeline.to_dict()
    assert data["t"] == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])
    assert data["distance"] == [3.0, None, -0.25, None, 1.5]
    assert data["verdict"] == [1, 0, 1, 1, 1]
    (lidar,) = data["sources"]
    assert lidar["age"] == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04])
    assert lidar["status"] == [Status.SUCCESS] * 3 + [Status.STALE_OBSTACLES] * 2
    assert data["golden"] is None


def test_merged_stamps_keep_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst verdict, the smallest distance, the greatest age, the most severe change."""
    monkeypatch.setattr(timeline_module, "MAX_BINS", 2)
    timeline = Timeline(["lidar"])
    for i in range(10):
        verdict = Verdict.COLLISION if i == 5 else Verdict.FREE
        row = Row(i, i, "data", verdict, Status.SUCCESS, distance=-1.0 if i == 6 else 2.0)
        old = Row(i, i, "data", Verdict.MARGIN, Status.SUCCESS, distance=float(i))
        label = {4: "COLLISION to FREE", 7: "status"}.get(i, "")
        reports = [Report("lidar", "a", None, age=float(i == 7))]
        timeline.add(float(i), row, reports, Comparison(old, label))
    data = timeline.to_dict()
    assert (data["size"], data["stamps"]) == (4, 10)
    assert data["t"] == [0.0, 4.0, 8.0]
    assert data["verdict"] == [1, 2, 1]
    assert data["distance"] == [2.0, -1.0, 2.0]
    assert data["sources"][0]["age"] == [0.0, 1.0, 0.0]
    assert data["golden"]["change"] == [0, LABELS.index("COLLISION to FREE") + 1, 0]
    assert data["golden"]["distance"][1] == 4.0


def test_labels_are_in_the_order_of_their_kinds() -> None:
    assert LABELS[:2] == ("COLLISION to FREE", "FREE to COLLISION")
    assert len(set(LABELS)) == len(LABELS) == 12 + 5
    assert all(each.endswith("to UNKNOWN") for each in LABELS[2:5])


def test_golden_labels_each_answer(tmp_path: Path) -> None:
    free = Verdict.FREE, Status.SUCCESS
    rows = [Row(10**9 * i, 0, "data", *free, distance=1.0) for i in range(5)]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(['{"format": 1}', *(row.to_json() for row in rows)]) + "\n")
    golden = Golden(path, 1e-6)
    hit = Row(10**9, 0, "data", Verdict.COLLISION, Status.SUCCESS, distance=-1.0)
    far = Row(3 * 10**9, 0, "data", *free, distance=2.0, nearest_id=7)
    found = [golden.add(row.time * 1e-9 - 1.0, row) for row in (hit, far)]
    golden.finish()
    assert [each.label for each in found] == ["FREE to COLLISION", "distance"]
    assert found[1].old == rows[3]
    assert golden.missing == [-1.0, 1.0, 3.0], "in s after the begin of the bag"
    assert golden.to_dict()["changes"]["FREE to COLLISION"] == {"count": 1, "first": 0.0}


# ---- the page


@needs_browser
@pytest.mark.parametrize(
    ("keys", "least", "most"),
    [
        (["+", "+"], 3.0, 4.0),
        (["+", "-"], 8.0, 8.1),
        (["+", "+", "0"], 8.0, 8.1),
        (["+", "PageDown", "PageDown"], 5.0, 6.0),
    ],
)
def test_time_is_zoomed_by_keyboard(
    keys: list[str], least: float, most: float, pages: Path, tmp_path: Path
) -> None:
    dom = acted(pages / "faulty" / "index.html", tmp_path, pressed(*keys, on="timeline"))
    begin, end = shown(dom)
    assert least < end - begin + 0.01 and end - begin <= most
    if "PageDown" in keys:  # half of the visible time each
        assert begin > 1.0


POINT = """
const event = (type, x, y, more) => el("timeline").dispatchEvent(new PointerEvent(type,
  { bubbles: true, pointerId: 1, clientX: el("timeline").getBoundingClientRect().left + x,
    clientY: el("timeline").getBoundingClientRect().top + y, ...more }));
el("timeline").setPointerCapture = () => {};
const box = el("timeline").getBoundingClientRect(), at = (t) => xOf(t, box.width);
"""


@needs_browser
def test_time_is_zoomed_by_wheel_and_moved_by_the_strip(pages: Path, tmp_path: Path) -> None:
    script = """
    el("timeline").dispatchEvent(new WheelEvent("wheel", { deltaY: -600, clientX: box.left + at(4),
      clientY: box.top + 60 }));
    const before = document.documentElement.dataset.shown;
    document.documentElement.dataset.before = before;
    event("pointerdown", whole(6, box.width), lanes[0].y + 2, {});
    """
    dom = acted(pages / "faulty" / "index.html", tmp_path, POINT, script)
    begin, end = shown(dom)
    before = re.search(r'data-before="([\d.]+) ([\d.]+)"', dom)
    assert before
    assert float(before[2]) - float(before[1]) == pytest.approx(8.0 * np.exp(-1.2), rel=0.05)
    assert 0.5 * (begin + end) == pytest.approx(6.0, abs=0.02)
    assert end - begin == pytest.approx(float(before[2]) - float(before[1]), abs=0.01)
    assert 'data-time="4.7"' in dom, "the cursor stays where it was, at the first failure"


@needs_browser
def test_a_drag_moves_the_cursor(pages: Path, tmp_path: Path) -> None:
    script = """
    event("pointerdown", at(1), 60, { buttons: 1 });
    event("pointermove", at(3.01), 60, { buttons: 1 });
    """
    dom = acted(pages / "faulty" / "index.html", tmp_path, POINT, script)
    assert 'data-time="3"' in dom


@needs_browser
def test_values_at_the_pointer(pages: Path, tmp_path: Path) -> None:
    script = 'event("pointermove", at(6.72), 60, {});'
    text = values(acted(pages / "faulty" / "index.html", tmp_path, POINT, script))
    assert "6.650 s, stamp 126" in text
    assert "UNKNOWN, STALE_OBSTACLES, -" in text
    assert "footprint 0.000 s|" in text
    assert "obstacles 0.700 s STALE_OBSTACLES" in text


@needs_browser
def test_a_failure_leads_to_its_stamp(pages: Path, tmp_path: Path) -> None:
    link = "document.querySelector('.failures a').click();"
    click = link + pressed("End") + link  # a second time too
    dom = acted(pages / "faulty" / "index.html", tmp_path, click)
    assert 'data-time="4.7"' in dom
    assert fact(dom, "verdict") == "MARGIN"


@needs_browser
def test_both_answers_at_the_cursor(pages: Path) -> None:
    dom = browse(pages / "street" / "index.html", fragment="#t=4.7")
    assert "0.9.yaml: MARGIN, SUCCESS" in values(dom)
    assert "0.1.yaml: FREE, SUCCESS" in values(dom)
    assert "difference: FREE to MARGIN" in values(dom)


@needs_browser
def test_events_by_keyboard(pages: Path, tmp_path: Path) -> None:
    """Each press leads to the next event, and the address follows."""
    events = json.loads((pages / "street" / "summary.json").read_text())["events"]["kept"]
    begins = sorted({each["from"] for each in events if each["from"] > 0.0})
    tell = "document.documentElement.dataset.hash = location.hash;"
    keys = pressed("Home", *("n" for _ in begins))
    dom = acted(pages / "street" / "index.html", tmp_path, keys, tell)
    assert f'data-time="{begins[-1]:g}"' in dom
    assert f'data-hash="#t={begins[-1]:.6f}"' in dom
    dom = acted(pages / "street" / "index.html", tmp_path, pressed("End", "p"))
    assert f'data-time="{begins[-1]:g}"' in dom


@needs_browser
def test_recorded_requests_have_a_lane(tmp_path: Path) -> None:
    """A mark for each, at the time of the recorded reply, or at the end without a reply."""
    with_requests(tmp_path / "bag", Verdict.COLLISION)
    assert main(["replay", str(tmp_path / "bag"), "--out", str(tmp_path), "--quiet"]) == 0
    script = """
      const bars = [], lane = lanes.find((each) => each.draw === requestLane);
      window.bar = (g, name, x) => bars.push([name, x]);
      requestLane(el("timeline").getContext("2d"), 1000, lane.y, lane.height);
      return [lane.caption, bars.map(([name, x]) => [name, timeAt(x + 1.5, 1000)])];"""
    caption, bars = told(tmp_path / "bag" / "index.html", script, tmp_path)
    assert caption == "requests, answered again: 4"
    assert [name for name, _ in bars] == ["COLLISION"] * 4
    assert [t for _, t in bars] == pytest.approx([0.52, 1.0, 1.0, 1.0])


def test_parameters_that_differ_are_at_the_top(pages: Path) -> None:
    text = (pages / "street" / "index.html").read_text(encoding="utf-8")
    why = "<li>why: parameters: safety_margin 0.1 -&gt; 0.9</li>"
    assert text.index(why) < text.index('id="timeline"')


@needs_browser
def test_page_opens_at_the_first_failure(pages: Path) -> None:
    failed = json.loads((pages / "faulty" / "summary.json").read_text())["failure_times"]
    assert f'data-time="{min(failed):g}"' in browse(pages / "faulty" / "index.html")


@needs_browser
@pytest.mark.parametrize("name", ["faulty", "street"])
def test_no_width_is_scrolled_sideways(name: str, pages: Path) -> None:
    """At 200 % zoom, the width is half of it."""
    assert_not_scrolled(pages / name / "index.html", [390, 640, 960, 1280, 1920])


KEYBOARD = """
for (const each of document.querySelectorAll("details")) each.open = true;
const canHaveFocus = "a[href], button, input, select, summary, [tabindex]";
const all = [...document.querySelectorAll(canHaveFocus)].filter((each) =>
  each.getClientRects().length);
const faults = [];
const press = (each, key, shiftKey = false) => each.dispatchEvent(new KeyboardEvent("keydown",
  { key, shiftKey, bubbles: true, cancelable: true }));
for (const each of all) {
  const name = each.outerHTML.slice(0, 60);
  each.focus();
  if (document.activeElement !== each) faults.push("cannot have the focus: " + name);
  if (each.tabIndex !== 0) faults.push("has another place in the order: " + name);
  if (!press(each, "Tab") || !press(each, "Tab", true)) faults.push("keeps the focus: " + name);
  const { outlineStyle } = getComputedStyle(each);
  if (each.matches(":focus-visible") && outlineStyle === "none") faults.push("no ring: " + name);
}
const before = stamp;
if (!press(document.getElementById("obstacle-table"), "ArrowRight") || stamp !== before) {
  faults.push("the table cannot be scrolled by keys");
}
document.documentElement.dataset.keyboard = all.length + " " + faults.join("; ");
"""


@needs_browser
@pytest.mark.parametrize("name", ["faulty", "street"])
def test_everything_is_reached_by_keyboard(name: str, pages: Path, tmp_path: Path) -> None:
    """Each control can have the focus, in the order of the page, and gives it on at Tab."""
    dom = acted(pages / name / "index.html", tmp_path, KEYBOARD)
    found = re.search(r'data-keyboard="(\d+) ([^"]*)"', dom)
    assert found and found[2] == ""
    assert int(found[1]) > 15


@needs_browser
@pytest.mark.parametrize("name", ["faulty", "street"])
def test_nothing_overlaps_at_200_percent(name: str, pages: Path, tmp_path: Path) -> None:
    """A zoom of 200 % in a window of 1280 px: 640 px of CSS with two pixels each."""
    script = """
      const boxes = [...document.querySelectorAll("button, select, h2, th, td, dt, dd, output")]
        .filter((each) => each.getClientRects().length);
      const faults = [];
      for (const a of boxes) for (const b of boxes) {
        if (a === b || a.contains(b) || b.contains(a)) continue;
        const [r, s] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
        const across = r.left < s.right - 1 && s.left < r.right - 1;
        if (across && r.top < s.bottom - 1 && s.top < r.bottom - 1) {
          faults.push(a.outerHTML.slice(0, 60) + " covers " + b.outerHTML.slice(0, 60));
        }
      }
      const wide = document.documentElement.scrollWidth;
      document.documentElement.dataset.zoomed = wide + " " + devicePixelRatio + " " + faults[0];"""
    copy = with_script(pages / name / "index.html", tmp_path / "page.html", f"{{{script}}}")
    dom = browse(copy, size=(640, 900), scale=2.0)
    found = re.search(r'data-zoomed="([^"]*)"', dom)
    assert found and found[1] == "640 2 undefined"


@needs_browser
def test_page_of_half_an_hour(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    timeline = Timeline(["lidar", "radar"])
    walk = 3.0 + np.cumsum(random.normal(0.0, 0.05, 36_000))
    verdicts = [Verdict.COLLISION if each <= 0.0 else Verdict.FREE for each in walk]
    for i, (distance, verdict) in enumerate(zip(walk, verdicts, strict=True)):
        row = Row(i, i, "data", verdict, Status.SUCCESS, distance=float(distance))
        old = Row(i, i, "data", Verdict.FREE, Status.SUCCESS, distance=float(distance))
        ages = zip(("lidar", "radar"), random.uniform(0.0, 0.1, 2).tolist(), strict=True)
        reports = [Report(name, name, None, age=age) for name, age in ages]
        label = "" if verdict is Verdict.FREE else "FREE to COLLISION"
        timeline.add(i * 0.05, row, reports, Comparison(old, label))
    data = timeline.to_dict()
    assert data["size"] == 1
    summary: dict[str, Any] = summary_of("long") | {
        "golden": {
            "names": ["a", "b"], "parameters": None, "why": [],
        },
    }  # fmt: skip
    text = page(summary, data, filmed(verdicts))
    assert len(text) < 5e6, "with the scene, the page is below 10 MB"
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    dom = browse(tmp_path / "page.html", fragment="#t=1799.95")
    assert "1799.950 s, stamp 35999" in values(dom)
    assert f"{walk[-1]:.6f} m" in values(dom)


@needs_browser
@needs_npm
@pytest.mark.parametrize("name", ["faulty", "street"])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_axe_finds_nothing_serious(name: str, scheme: str, pages: Path, tmp_path: Path) -> None:
    script = (
        (NPM / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
        + """;
    axe.run().then((found) => document.documentElement.dataset.axe = found.violations.map(
      (each) => each.impact + ": " + each.id).join("; ") || "none");
    """
    )
    copy = with_script(pages / name / "index.html", tmp_path / "page.html", script)
    dom = browse(copy, scheme=scheme, milliseconds=10_000)
    found = re.search(r'data-axe="([^"]*)"', dom)
    assert found and found[1] == "none", found


# ---- two parameter files


def test_two_parameter_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0: the answers are equal. 1: they differ. The second file has the reports of the case."""
    bag, out = write(tmp_path, "approach"), tmp_path / "out"

    def compare(*margins: float, more: tuple[str, ...] = ()) -> int:
        files = parameter_files(tmp_path, *margins)
        return main(["replay", str(bag), *files, "--no-page", "--out", str(out), *more])

    assert compare(0.1, 0.1) == 0
    assert compare(0.1, 0.9) == 1
    summary = json.loads((out / "approach" / "summary.json").read_text())
    assert summary["golden"]["parameters"] == [["safety_margin", 0.1, 0.9]]
    assert summary["golden"]["names"] == ["0.1.yaml", "0.9.yaml"]
    assert summary["golden"]["changes"]["FREE to MARGIN"]["count"] > 0
    assert summary["parameters"]["safety_margin"] == 0.9
    assert (out / "first" / "approach" / "results.jsonl").is_file()
    capsys.readouterr()
    assert compare(0.1, 0.9, 0.2) == 2
    assert "--params: at most two files" in capsys.readouterr().err
    assert compare(0.1, 0.9, more=("--golden", str(out))) == 2
    assert "must be given once with --golden" in capsys.readouterr().err
    assert compare(0.1, more=("--params", str(tmp_path / "nowhere.yaml"))) == 2


def test_first_is_the_name_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "approach")
    (tmp_path / "s.yaml").write_text("name: first\nbag: approach\n")
    files = parameter_files(tmp_path, 0.1, 0.1)
    assert main(["replay", str(tmp_path / "s.yaml"), *files, "--out", str(tmp_path / "o")]) == 2
    assert "no case can have the name 'first'" in capsys.readouterr().err


def test_expectations_are_those_of_the_second_file(tmp_path: Path) -> None:
    """With the first file an expectation fails. It is not part of the comparison."""
    write(tmp_path, "approach")
    cases = SCENARIOS / "scenarios.yaml"
    text = cases.read_text().split("---")[0].replace("parameters: {safety_margin: 1.0}\n", "")
    (tmp_path / "s.yaml").write_text(text)
    out, files = tmp_path / "out", parameter_files(tmp_path, 0.1, 1.0)
    command = ["replay", str(tmp_path / "s.yaml"), *files, "--no-page", "--out", str(out)]
    assert main(command) == 1
    first = json.loads((out / "first" / "approach" / "summary.json").read_text())
    second = json.loads((out / "approach" / "summary.json").read_text())
    assert first["outcome"] == "not judged"
    assert all(text.startswith("golden: ") for text in second["failures"])
    assert all(not each["failure"] for each in second["expectations"])

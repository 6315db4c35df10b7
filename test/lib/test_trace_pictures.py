# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of a trace: one for each step, from two shapes or from a bag and a stamp."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from browser import browse, needs_browser, pressed, with_script
from write_scenarios import write

from gjk_collision import Shape, trace
from gjk_collision.__main__ import main
from gjk_collision.report.decision import decision
from gjk_collision.report.panel import Panel
from gjk_collision.report.trace import _is_flat, _zone, trace_page, trace_svg

HERE = (0.0, 0.0, 0.0)
HOUSE = [[0, 0], [2, 0], [2.5, 1.2], [1, 2.2], [-0.4, 1.2]]
ELL = [[0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]]
KITE = [[3.4, 0.8], [4.6, 0.2], [5.2, 1.8], [4.0, 2.6]]


def texts(svg: str) -> list[str]:
    found = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [each.text or "" for each in found]


def test_a_picture_for_each_step() -> None:
    a, b = Shape.polygon(HOUSE), Shape.polygon(KITE)
    found = trace(a, b)
    said = texts(trace_svg(found, a, b, HERE, HERE))
    assert sum(text.startswith("step ") for text in said) == len(found.steps) > 2
    assert any("0.980306075 m" in text for text in said), "the answer is told"
    page = trace_page(found, a, b, HERE, HERE, "<b>")
    assert page.count("<svg") == len(found.steps)
    assert "<b>" not in page
    assert not re.search(r"(src|href)=\"(?!data:)|url\(|@import", page)


@pytest.mark.parametrize(
    ("a", "b", "pose_b"),
    [
        (Shape.circle(1.0), Shape.capsule((0.0, 0.0), (1.0, 0.0), 0.3), (4.0, 1.0, 0.5)),
        (Shape.point((0.0, 0.0)), Shape.point((0.0, 0.0)), (0.0, 0.0, 0.0)),
        (Shape.polygon(HOUSE), Shape.polygon(HOUSE), (0.0, 0.0, 0.0)),
        (Shape.segment((0.0, 0.0), (1.0, 0.0)), Shape.segment((0.0, 0.0), (1.0, 0.0)), (3, 0, 0)),
        (Shape.polygon(HOUSE), Shape.box(1.0, 1.0), (691_234.5, 5_334_567.25, 1.0)),
        (Shape.concave(ELL), Shape.box(1, 1), (3, 3, 0)),
    ],
)
def test_whatever_the_shapes(a: Shape, b: Shape, pose_b: tuple[float, float, float]) -> None:
    """Degenerate, equal, round, far, concave: drawn in finite numbers."""
    svg = trace_svg(trace(a, b, HERE, pose_b), a, b, HERE, pose_b)
    ET.fromstring(svg)
    assert not re.search(r"\b(nan|inf)\b", svg)


@pytest.mark.parametrize(
    ("a", "b", "pose_b"),
    [
        (Shape.box(2, 2), Shape.box(2, 2), (2.0, 0.0, 0.0)),
        (Shape.box(2, 2), Shape.box(2, 2), (2.0, 2.0, 0.0)),
        (Shape.box(2, 2), Shape.polygon([[1, 0], [2, 1], [2, -1]]), HERE),
        (Shape.box(2, 2), Shape.box(2, 2), (1.0 + 2.0**0.5, 0.0, 0.785398163397448)),
    ],
)
def test_a_touching_pair_has_no_region(
    a: Shape, b: Shape, pose_b: tuple[float, float, float]
) -> None:
    """GJK does not decide it. So neither the text nor the drawing names a region at the end."""
    found = trace(a, b, HERE, pose_b)
    assert not found.is_settled
    svg = trace_svg(found, a, b, HERE, pose_b)
    last = trace_page(found, a, b, HERE, pose_b, "").split("<svg")[-1]
    assert "in region" not in last and 'class="zone here"' not in last
    if not np.any(found.steps[-1].direction):
        assert "the origin is on it, up to rounding errors" in last
        assert "found: " not in last and "zone" not in last.split("</style>")[1]
    else:
        assert "rounding errors hide the region" in last
    assert not re.search(r"-0(\.0*)? m", svg)


def test_the_page_begins_with_the_decision_and_its_proof() -> None:
    def facts(b: Shape, pose_b: tuple[float, float, float]) -> dict[str, str]:
        a = Shape.box(2, 2)
        page = trace_page(trace(a, b, HERE, pose_b), a, b, HERE, pose_b, "")
        assert page.index("<h2>Decision") < page.index("<svg")
        return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))

    apart = facts(Shape.box(2, 2), (5.0, 0.0, 0.0))
    assert apart["verdict on this pair"] == "FREE"
    assert apart["certificate"].startswith("direction (1, 0), from a to b, separates the")
    assert apart["decided by"].startswith("step &#39;turned boxes&#39;: the bounding boxes")
    assert apart["in a query for the distance"].startswith("the certified lower bound decides")
    assert apart["closest point of a"].startswith("(1, ")
    over = facts(Shape.box(2, 2), (0.5, 0.25, 0.3))
    assert over["verdict on this pair"] == "COLLISION"
    assert over["penetration"] == "1.6993084 m"
    assert over["decided by"].startswith("step &#39;overlap&#39;: polygons inside of the shapes")
    assert over["in a query for the distance"].startswith("the certified lower bound does not")
    assert "encloses the origin (checked in exact arithmetic)" in over["certificate"]
    corners = re.findall(r"\((\S+), (\S+)\)", over["certificate"])
    (ax, ay), (bx, by), (cx, cy) = np.array(corners, dtype=float)
    turns = ax * by - ay * bx, bx * cy - by * cx, cx * ay - cy * ax
    assert len(set(np.sign(turns))) == 1, "the triangle encloses the origin"
    touching = facts(Shape.box(2, 2), (2.0, 0.0, 0.0))
    assert touching["verdict on this pair"] == "COLLISION"
    assert "exact arithmetic" in touching["certificate"]
    round_ones = facts(Shape.circle(0.5), (1.5, 0.0, 0.0))
    assert round_ones["verdict on this pair"] == "COLLISION"


@pytest.mark.parametrize(
    ("x", "margin", "verdict"),
    [(3.0, 0.0, "FREE"), (3.0, 0.5, "FREE"), (3.0, 1.0, "MARGIN"), (2.0, 0.5, "COLLISION")],
)
def test_the_verdict_is_with_the_margin(x: float, margin: float, verdict: str) -> None:
    """The gap is x - 2; a gap that is equal to the margin is not FREE."""
    a = Shape.box(2, 2)
    facts = dict(decision(trace(a, a, HERE, (x, 0.0, 0.0)), a, a, HERE, (x, 0.0, 0.0), margin))
    assert facts["verdict on this pair"] == verdict
    assert facts["required margin"] == f"{margin:g} m"
    with_margin, _, without = facts["decided by"].partition(". Without the margin, ")
    assert bool(without) == (margin > 0.0 and verdict != "FREE")
    assert ("overlap" in without or "no edge" in without) == (bool(without) and x == 2.0)
    assert with_margin.removeprefix("with the margin, ").startswith("step '")


def test_the_picture_begins_with_the_same_decision() -> None:
    """Wide texts are on several lines, none of which leaves the picture of 680 pixels."""
    a, b = Shape.polygon(HOUSE), Shape.polygon(KITE)
    found = trace(a, b)
    title = "a long name of a bag, " * 6
    said = texts(trace_svg(found, a, b, HERE, HERE, title, 0.5))
    first = next(i for i, text in enumerate(said) if text.startswith("shapes: "))
    head = " ".join(said[:first])
    for name, text in decision(found, a, b, HERE, HERE, 0.5):
        assert f"{name}: {text}" in head
    assert max(map(len, said[:first])) <= 92


@pytest.mark.parametrize("x", [0.0, 691_234.5])
def test_axes_have_true_coordinates_and_a_scale_bar(x: float) -> None:
    a, pose = Shape.box(2.0, 2.0), (x, 0.0, 0.0)
    svg = trace_svg(trace(a, a, HERE, (x + 3.0, 0.0, 0.0)), a, a, pose, (x + 3.0, 0.0, 0.0))
    panel = Panel([np.array([[x - 1.0, -1.0], [x + 4.0, 1.0]])], 0.0)
    ticks = "".join(panel.axes("shapes"))
    assert "shapes: x right, y up, in m" in ticks and "shapes: x right, y up, in m" in svg
    found = re.findall(r'text-anchor="middle" x="(\S+)" y="292">(-?[\d.]+)<', ticks)
    assert len(found) >= 2
    for u, value in found:
        assert panel.at((float(value), 0.0))[0] == pytest.approx(float(u), abs=0.02)
    [(long, name)] = re.findall(r"v8m0 -4h(\S+)m0.*>(\S+) m<", ticks)
    assert float(long) == pytest.approx(float(name) * panel.scale, abs=0.02)


def test_the_zone_that_is_filled_holds_the_origin() -> None:
    """The picture's regions are cut out by half-planes, the barycode is signs of areas."""
    seed = 20261120
    random = np.random.default_rng(seed)
    seen: set[int] = set()
    box = 100.0 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for _ in range(300):
        a = Shape.hull(random.normal(size=(8, 2)))
        b = Shape.hull(random.normal(size=(8, 2)) + random.uniform(-3.0, 3.0, 2))
        for step in trace(a, b).steps:
            if step.barycode is None or _is_flat(step):
                continue
            zone = _zone(box, step, step.barycode)
            edges = np.roll(zone, -1, axis=0) - zone
            turns = edges[:, 0] * -zone[:, 1] - edges[:, 1] * -zone[:, 0]
            inside = (turns > -1e-9).all() or (turns < 1e-9).all()
            assert inside, (seed, a.parts, b.parts, step)
            seen.add(step.barycode)
    assert seen == {4, 5, 6, 7}


def test_command_with_two_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kite.json").write_text(json.dumps(KITE))
    out = tmp_path / "pictures" / "pair"
    command = ["trace", json.dumps(HOUSE), str(tmp_path / "kite.json"), "--out", str(out)]
    assert main([*command, "--pose-b", "0.5,0,0", "--radius-a", "0.25"]) == 0
    assert capsys.readouterr().out.split() == [f"{out}.svg", f"{out}.html"]
    for wrong, said in (
        (["[]", "[]"], "shape A: points"),
        (["[[0, 0]", "[[1, 1]]"], "shape A: must be a JSON list"),
        (["[[0, 0]]", "[[1, NaN]]"], "shape B: points[0]: must be finite"),
        (["nowhere.json", "[[1, 1]]"], "nowhere.json"),
        (["[[0,0]]"], "must be two shapes"),
    ):
        assert main(["trace", *wrong, "--out", str(out)]) == 2
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["trace", "[[0,0]]", "[[1,1]]", "--pose-b", "1,2"])
    assert "--pose-b: must be X,Y,YAW (got '1,2')" in capsys.readouterr().err


def test_command_with_a_bag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = str(write(tmp_path, "street"))
    out = tmp_path / "moment"
    assert main(["trace", bag, "--at", "4.7", "--out", str(out)]) == 0
    page = Path(f"{out}.html").read_text(encoding="utf-8")
    assert "vehicle and obstacle 6, safety margin 0 m, FREE/SUCCESS" in page
    assert "distance 0.41" in page, "as the replay says: 0.417 m to the walker"
    assert main(["trace", bag, "--at", "4.7", "--id", "9", "--out", str(out)]) == 0
    for wrong in (["--at", "99"], ["--at", "1", "--id", "77"], []):
        assert main(["trace", bag, *wrong, "--out", str(out)]) == 2
    text = "the time must be between 0 and the end of the bag, 8.000000 s (got 99 s)"
    assert text in capsys.readouterr().err


@needs_browser
def test_page_steps_by_keyboard(tmp_path: Path) -> None:
    a, b = Shape.polygon(HOUSE), Shape.polygon(KITE)
    page = trace_page(trace(a, b), a, b, HERE, HERE, "pair")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    press = pressed("ArrowRight", "ArrowRight")
    dom = browse(with_script(tmp_path / "page.html", tmp_path / "pressed.html", press))
    assert 'data-step="3"' in dom
    assert dom.count('class="frame on"') == 1

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The golden answer in the scene of a replay's page, beside the new answer."""

from pathlib import Path
from typing import Any

import pytest
from browser import needs_browser
from replay_pages import StillDrive, cars, data_of, told
from write_scenarios import EGO, at, steps

from gjk_collision.__main__ import main
from gjk_collision.replay.golden import LABELS, Comparison
from gjk_collision.replay.rows import Row
from gjk_collision.replay.write import BagWriter
from gjk_collision.report.film import MAX_FRAMES, Film
from gjk_collision.server.frames.poses import Pose
from gjk_collision.verdict import Status, Verdict

PARAMETERS = """
/**:
  ros__parameters:
    check_frame: odom
    safety_margin: %g
    obstacle_sources: [lidar, radar]
    lidar.topic: /lidar
    radar: {topic: /radar, inflation: %g}
"""


def replayed(folder: Path, files: dict[str, tuple[float, float]]) -> int:
    """Compare two files of a margin and an inflation; return the exit code."""
    command = ["replay", str(folder / "bag"), "--out", str(folder), "--quiet"]
    for name, values in files.items():
        (folder / name).write_text(PARAMETERS % values)
        command += ["--params", str(folder / name)]
    return main(command)


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A car of the lidar 2 m ahead, one of the radar 3 m behind. The second file inflates it."""
    folder = tmp_path_factory.mktemp("golden")
    with BagWriter(folder / "bag") as writer:
        for t in steps(1.0):
            writer.transform(at(t), Pose(0.0, 0.0, 0.0))
            writer.footprint(at(t), EGO)
            length = max(x for x, _ in EGO), min(x for x, _ in EGO)
            writer.obstacles(cars(t, [Pose(length[0] + 2.0 + 2.25, 0.0, 0.0)]), "/lidar")
            writer.obstacles(cars(t, [Pose(length[1] - 3.0 - 2.25, 0.0, 0.0)]), "/radar")
    assert replayed(folder, {"old.yaml": (1.5, 0.0), "new.yaml": (0.25, 2.0)}) == 1
    return folder / "bag" / "index.html"


def test_frames_have_both_answers(drive: Path) -> None:
    data = data_of(drive)
    front, rear = max(x for x, _ in EGO), min(x for x, _ in EGO)
    for frame in data["film"]["frames"]:
        assert (frame["id"], frame["src"], frame["d"]) == (1, "radar", 1.0)
        other = frame["g"]
        assert (other["id"], other["src"], other["d"]) == (1, "lidar", 2.0)
        assert (other["v"], other["s"]) == (Verdict.FREE, "SUCCESS")
        assert other["c"] == LABELS.index("distance") + 1
        own = frame["w"][::2]
        assert own == pytest.approx([rear, rear - 1.0])
        assert other["w"][::2] == pytest.approx([front, front + 2.0])
        assert other["ego"] == frame["ego"]


@needs_browser
def test_both_answers_are_drawn(drive: Path, tmp_path: Path) -> None:
    """The segment and the obstacle of the golden answer have its colour; the table names both."""
    script = """
      const texts = [];
      const write = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
        texts.push(String(text)); write.call(this, text, ...at);
      };
      drawScene();
      const g = el("scene").getContext("2d");
      const ratio = el("scene").width / el("scene").getBoundingClientRect().width;
      const golden = (u, v) => {
        const [r, g0, b] = g.getImageData(Math.round(u * ratio), Math.round(v * ratio), 1, 1).data;
        return "#" + [r, g0, b].map((each) => each.toString(16).padStart(2, "0")).join("");
      };
      const along = (xy, count) => Array.from({ length: count }, (_, i) => {
        const a = screen(xy[0], xy[1]), b = screen(xy[2], xy[3]), s = (i + 0.5) / count;
        return golden(a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]) + 2);
      }).filter((each) => each === colour("purple")).length / count;
      const frame = frames[cursor];
      const cells = ({ cells }) => cells[0].textContent + " " + cells[2].textContent;
      return [texts, along(frame.g.w, 200), along(frame.w, 200), el("scene-legend").textContent,
        [...el("obstacles").rows].map(cells)];"""
    texts, on_golden, on_own, legend, rows = told(drive, script, tmp_path)
    assert "2.00 m old.yaml" in texts and "1.00 m" in texts, "the distances at the segments"
    assert on_golden > 0.3, "dashes"
    assert on_own == 0.0
    assert "answer of old.yaml: closest points, nearest obstacle" in legend
    assert rows == ["1 (nearest) radar", "1 (nearest of old.yaml) lidar"]


@needs_browser
def test_a_stamp_without_a_golden_answer(drive: Path, tmp_path: Path) -> None:
    script = """
      frames[cursor].g = { c: 1 };
      golden.verdict[stamp] = -1;
      draw();
      return el("values").textContent;"""
    assert "old.yaml: no answer" in told(drive, script, tmp_path)


def compared(labels: list[str]) -> list[dict[str, Any]]:
    film = Film(StillDrive())  # type: ignore[arg-type]
    for i, label in enumerate(labels):
        row = Row(i, i, "data", Verdict.FREE, Status.SUCCESS, distance=5.0 + i % 7)
        film.add(i * 0.05, row, Comparison(row, label))
    frames: list[dict[str, Any]] = film.to_dict()["frames"]
    return frames


def test_a_change_of_three_stamps_has_frames_in_a_long_drive() -> None:
    """The verdict is FREE all the time. The frame of a neighbour would not show the change."""
    labels = [""] * 50_000
    labels[31_234:31_237] = ["COLLISION to FREE"] * 3
    frames = compared(labels)
    assert len(frames) < 2 * MAX_FRAMES
    shown = [frame for frame in frames if frame["g"]["c"] == 1]
    assert sum(frame["n"] for frame in shown) == 3
    assert shown[0]["first"] == 31_234


def test_frames_of_many_changes_show_the_most_severe_one() -> None:
    labels = [("COLLISION to FREE", "", "status", "distance")[i % 4] for i in range(9_000)]
    frames = compared(labels)
    assert len(frames) < 2 * MAX_FRAMES
    for frame in frames:
        own = labels[frame["first"] : frame["first"] + frame["n"]]
        codes = [LABELS.index(each) + 1 for each in own if each]
        assert frame["g"]["c"] == min(codes, default=0)
        assert own[frame["i"] - frame["first"]] == (LABELS[min(codes) - 1] if codes else "")


@needs_browser
def test_one_stamp_and_long_names(tmp_path: Path) -> None:
    """A curve of one value is a dot. No name is run as HTML, or leaves no room for the values."""
    name = '<img src=x onerror="document.title=1">' + "w" * 60
    with BagWriter(tmp_path / "bag") as writer:
        writer.transform(at(0.0), Pose(0.0, 0.0, 0.0))
        writer.footprint(at(0.0), EGO)
        writer.obstacles(cars(0.0, [Pose(20.0, 0.0, 0.0)], source=name), "/lidar")
        writer.obstacles(cars(0.0, [Pose(-20.0, 0.0, 0.0)]), "/radar")
    names = [f"{margin}{name.replace('/', '')}.yaml" for margin in (1, 2)]
    assert replayed(tmp_path, {names[0]: (1.0, 0.0), names[1]: (2.0, 0.0)}) == 0
    script = """
      let dots = 0;
      const arc = CanvasRenderingContext2D.prototype.arc;
      CanvasRenderingContext2D.prototype.arc = function (...at) { dots++; arc.apply(this, at); };
      drawTimeline();
      const share = el("facts").querySelector("dd").clientWidth / el("facts").clientWidth;
      const row = [...el("obstacles").rows].find((each) => each.cells[2].textContent !== "radar");
      return [dots, share, row.cells[2].textContent, row.offsetWidth, document.images.length];"""
    dots, share, sender, wide, images = told(tmp_path / "bag" / "index.html", script, tmp_path)
    assert dots == 1 + 1, "the distance of both results; all ages are 0, so they have no lane"
    assert share > 0.5
    assert sender == name
    assert wide < 1300
    assert images == 0

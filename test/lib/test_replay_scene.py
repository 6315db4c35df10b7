# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The scene of a replay page: margins, velocities, sources, labels and axes."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import needs_browser
from replay_pages import cars, data_of, told
from write_scenarios import EGO, at, steps

from gjk_collision.geometry import distance
from gjk_collision.replay.case import Case
from gjk_collision.replay.pair import MomentError
from gjk_collision.replay.write import BagWriter
from gjk_collision.report.decision import moment
from gjk_collision.report.run import Options, run
from gjk_collision.server.data.obstacles import Obstacles
from gjk_collision.server.frames.poses import Pose
from gjk_collision.server.parameters.config import Config
from gjk_collision.verdict import Status

FAR = 664_750.0  # m, as in UTM
PARAMETERS: dict[str, Any] = {
    "check_frame": "odom", "safety_margin": 0.5, "margin_front": 0.25, "prediction_horizon": 4.0,
    "obstacle_sources": ["lidar", "radar"], "lidar.topic": "/lidar", "lidar.inflation": 0.25,
    "radar.topic": "/radar",
}  # fmt: skip


def page_of(folder: Path, parameters: dict[str, Any]) -> Path:
    """Replay the bag in a folder; return its page."""
    run(Case("drive", folder / "bag", Config.from_parameters(parameters)), folder, Options())
    return folder / "drive" / "index.html"


def page_of_a_stamp(folder: Path, obstacles: Obstacles, **parameters: Any) -> Path:
    """A vehicle at the origin, and one list of obstacles."""
    with BagWriter(folder / "bag") as writer:
        writer.transform(at(0.0), Pose())
        writer.footprint(at(0.0), EGO)
        writer.obstacles(obstacles)
    return page_of(folder, {"check_frame": "odom", **parameters})


def frames_of(page: Path) -> Any:
    return data_of(page)["film"]["frames"]


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vehicle stands at great coordinates; a lidar in its own frame, and a radar in odom."""
    folder = tmp_path_factory.mktemp("scene")
    with BagWriter(folder / "bag") as writer:
        for t in steps(1.0):
            writer.transform(at(t), Pose(FAR, 0.0, 0.0))
            writer.transform(at(t), Pose(1.0, 0.0, np.pi / 2), "base_link", "lidar_frame")
            writer.footprint(at(t), EGO)
            near, away = Pose(4.75, 0.0, 0.0), Pose(-9.0, 0.0, 0.0)  # at the left, and the right
            speeds = np.array([0.0, -2.0, 0.0, np.nan, np.nan, np.nan])
            more = {"velocities": speeds, "margins": np.array([0, 0.5])}
            writer.obstacles(cars(t, [near, away], "lidar_frame", **more), "/lidar")
            path = [(1.0, FAR + 13.0, 0.0, 0.0), (8.0, FAR + 6.0, 7.0, 0.0)]
            writer.obstacles(cars(t, [Pose(FAR + 14.0, 0.0, 0.0)], paths=[path]), "/radar")
    return page_of(folder, PARAMETERS)


def placed(film: dict[str, Any], frame: dict[str, Any]) -> list[Any]:
    """The items of the lists of a frame."""
    found = list[Any]()
    for each in (film["lists"][k] for k in frame["l"]):
        rows = np.reshape(each["xy"], (-1, 2)) / 1e3 if isinstance(each, dict) else ()
        found += [
            [k, x, y, 0.0, number, each["n"]]
            for k, (x, y), number in zip(each["k"], rows.tolist(), each["i"], strict=True)
        ] if isinstance(each, dict) else each  # fmt: skip
    return found


def test_velocities_margins_and_sources_are_in_the_check_frame(drive: Path) -> None:
    data = data_of(drive)
    assert data["frame"] == "odom"
    assert data["film"]["sources"] == [
        {"source": "lidar", "sender": "lidar", "frame": "lidar_frame", "inflation": 0.25},
        {"source": "radar", "sender": "radar", "frame": "odom", "inflation": 0.0},
    ]
    frame = data["film"]["frames"][3]
    near, away, radar = placed(data["film"], frame)
    assert near[1:3] == pytest.approx([1.0, 4.75]) and near[5] == 0
    assert near[6:] == pytest.approx([2.0, 0.0]), "the velocity is turned with the frame"
    assert away[6:] == [None, None, 0.5], "unknown velocity, own margin"
    assert radar[5:] == [1]
    outline = data["film"]["outlines"][near[0]]
    assert outline["r"] == 0.0, "the inflation is drawn around the obstacle"
    [bare], [grown] = (
        np.array([data["film"]["outlines"][k]["p"] for k in frame[name]]) for name in ("bare", "f")
    )
    assert grown[:, 0].max() - bare[:, 0].max() == 0.25


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The transform of each list arrives with the next list, 0.05 s later.

    List k, of the stamp t = k / 20 s, has one car with the id k + 1; its rear is at x = 20 - 6 t.
    The front of the vehicle is at x = 3.75. The last list is that of 1 s; the bag ends at 2 s.
    """
    folder = tmp_path_factory.mktemp("late")
    with BagWriter(folder / "bag") as writer:
        for t in steps(2.0):
            writer.transform(at(t), Pose())
            writer.footprint(at(t), EGO)
            if t <= 1.0:
                writer.transform(at(t - 0.05), Pose(), "odom", "lidar_frame", log=at(t))
                car = cars(t, [Pose(22.25 - 6.0 * t, 0.0, 0.0)], "lidar_frame")
                writer.obstacles(replace(car, ids=np.array([round(20 * t) + 1])))
    return Case("drive", folder / "bag", Config.from_parameters({"check_frame": "odom"}))


def test_the_scene_shows_the_message_of_the_answer(late: Case, tmp_path: Path) -> None:
    """If it showed the newest message, the nearest obstacle would be missing in the picture."""
    run(late, tmp_path, Options())
    data = data_of(tmp_path / "drive" / "index.html")
    film, [[x0, _]] = data["film"], [data["film"]["origin"]]
    frames = {round(20 * frame["t"]): frame for frame in film["frames"]}
    assert frames[20]["s"] == "SUCCESS"
    for k in range(1, 21):
        frame = frames[k]
        [[outline, x, _, _, number, source, *_]] = placed(film, frame)
        assert (number, frame["id"], frame["n"]) == (k, k, 1)
        rear = x0 + x + min(px for px, _ in film["outlines"][outline]["p"])
        assert rear == pytest.approx(20.0 - 6.0 * (k - 1) / 20)
        assert frame["d"] == pytest.approx(rear - 3.75)
        assert frame["a"] == {str(source): 0.05}
    lane = next(each for each in data["timeline"]["sources"] if each["name"] == "obstacles")
    # At the first stamp, no list is used.
    assert lane["age"][:21] == pytest.approx([0.0, *[0.05] * 20])


def test_trace_shows_the_message_of_the_answer(late: Case) -> None:
    """If it looked in the newest message, it would not find the nearest obstacle."""
    for k in (1, 7, 20):
        found = moment(late, k / 20)
        assert (found.row.status, found.obstacle_id) == (Status.SUCCESS, k)
        vehicle, pose, obstacle, place, _ = found.pair
        gap = distance(vehicle, obstacle, pose, place)
        assert gap == pytest.approx(16.25 - 6.0 * (k - 1) / 20)
        assert gap == found.row.distance


def test_data_that_is_not_used_is_not_shown(late: Case, tmp_path: Path) -> None:
    """The last list is too old from 1.55 s on. It would look like data of the answer."""
    run(late, tmp_path, Options())
    last = frames_of(tmp_path / "drive" / "index.html")[-1]
    assert last["s"] == "STALE_OBSTACLES"
    assert last["l"] == [] and last["a"] == {}
    with pytest.raises(MomentError, match="obstacle 20 is not known: UNKNOWN/STALE_OBSTACLES"):
        moment(late, 2.0, 20)


@needs_browser
def test_labels_do_not_cover_the_vehicle_or_each_other(drive: Path, tmp_path: Path) -> None:
    script = """
      const frame = frames[cursor], all = [];
      for (const scale of [6, 12, 25, 50, 100]) {
        view.scale = scale; drawScene();
        all.push([vehicleOf(frame)[0].corners, labels]);
      }
      return all;"""
    texts = set()
    for corners, labels in told(drive, script, tmp_path):
        boxes = [each["box"] for each in labels]
        texts |= {each["text"] for each in labels}
        (u0, v0), (u1, v1) = np.min(corners, axis=0), np.max(corners, axis=0)
        for i, box in enumerate(boxes):
            for a, b, c, d in [(u0, v0, u1, v1), *boxes[:i]]:
                assert box[0] >= c or box[2] <= a or box[1] >= d or box[3] <= b
    assert {"1 lidar: 2.00 m/s", "1.25 m"} <= texts


@needs_browser
def test_a_label_does_not_hide_a_small_obstacle(tmp_path: Path) -> None:
    walker = Obstacles(
        frame="odom", stamp=at(0.0), sequence=1, ids=np.array([6]), offsets=np.array([0, 1]),
        xy=np.array([8.0, 4.0]), radius=np.array([0.25]),
    )  # fmt: skip
    page = page_of_a_stamp(tmp_path, walker)
    script = """
      const at = screen(...middle(obstaclesOf(frames[cursor])[0])), canvas = el("scene");
      const ratio = canvas.width / (2 * half[0]), g = canvas.getContext("2d");
      const pixel = (v) => [...g.getImageData(at[0] * ratio, (at[1] + v) * ratio, 1, 1).data];
      return [labels, at, view.scale, pixel(0), pixel(-0.2 * view.scale), colour("body")];"""
    labels, (u, v), scale, inner, outer, body = told(page, script, tmp_path)
    [box] = [each["box"] for each in labels if each["text"] == "6"]
    near = np.clip([u, v], box[:2], box[2:])
    assert np.hypot(*(near - (u, v))) > 0.25 * scale
    for pixel in (inner, outer):  # a circle is filled, up to its radius
        assert "#" + "".join(f"{value:02x}" for value in pixel[:3]) == body


@needs_browser
def test_the_nearest_obstacle_is_drawn_above_the_vehicle(tmp_path: Path) -> None:
    """Inside the vehicle, it would not be seen below the colour of the verdict."""
    inside = cars(0.0, [Pose(1.0, 0.0, 0.0)], radius=np.zeros(1))
    small = replace(inside, xy=0.1 * inside.xy)
    script = """
      const at = screen(...middle(obstaclesOf(frames[cursor])[0])), canvas = el("scene");
      const ratio = canvas.width / (2 * half[0]), g = canvas.getContext("2d");
      const [u, v] = [at[0] - 0.15 * view.scale, at[1] - 0.05 * view.scale];  // beside the segment
      const rgb = (name) => colour(name).match(/\\w\\w/g).map((each) => parseInt(each, 16));
      return [[...g.getImageData(u * ratio, v * ratio, 1, 1).data].slice(0, 3), rgb("body")];"""
    pixel, body = told(page_of_a_stamp(tmp_path, small), script, tmp_path)
    assert pixel == body


@needs_browser
def test_an_obstacle_tells_its_source_and_frame(drive: Path, tmp_path: Path) -> None:
    script = """
      const texts = (row) => [...row.cells].map((cell) => cell.textContent);
      return [...el("obstacles").rows].map(texts);"""
    rows = told(drive, script, tmp_path)
    assert rows[0] == [
        "1 (nearest)", "lidar", "lidar", "lidar_frame", "664751.000", "4.750", "2.00", "0.250",
        "0.000",
    ]  # fmt: skip
    radar = ["1", "radar", "radar", "odom", "664764.000", "0.000", "unknown", "0.000", "0.000"]
    assert radar in rows


@needs_browser
def test_margin_and_inflation_are_dashed_outlines(drive: Path, tmp_path: Path) -> None:
    """Count the pixels of the margin's colour on a circle of its distance around a corner."""
    script = """
      view.scale = 40; view.x = frames[cursor].ego[0]; view.y = 0;
      const { g, w, h } = surface(el("scene"));
      half = [w / 2, h / 2];
      const corners = [[100, 100], [200, 100], [200, 150]];
      around(g, w, h, [[corners, 20]], "margin");
      const ratio = el("scene").width / w;
      const pixel = (u, v) => g.getImageData(Math.round(u * ratio), Math.round(v * ratio), 1, 1);
      const alpha = (u, v) => pixel(u, v).data[3];
      const edge = [];
      for (let u = 100; u < 200; u++) edge.push(alpha(u, 80));
      return [edge, alpha(150, 90), alpha(150, 100), alpha(195, 120), alpha(150, 70)];"""
    edge, *elsewhere = told(drive, script, tmp_path)
    drawn = np.array(edge) > 100
    assert 0.4 < drawn.mean() < 0.9, "dashes, with gaps"
    assert elsewhere == [0, 0, 0, 0], "nothing inside or outside"


@needs_browser
def test_legend_axes_and_units(drive: Path, tmp_path: Path) -> None:
    script = """
      const texts = [];
      CanvasRenderingContext2D.prototype.fillText = (text) => texts.push(String(text));
      drawScene();
      return [texts, el("scene-legend").textContent, el("facts").textContent];"""
    texts, legend, facts = told(drive, script, tmp_path)
    assert "x right, y up, in m, frame odom" in texts
    assert any(re.fullmatch(r"6647\d\d", text) for text in texts), "true coordinates on the axis"
    assert any(re.fullmatch(r"[\d.]+ m", text) for text in texts), "scale bar"
    assert legend.startswith("safety margin, 0.50 m")
    assert "x 664750" in facts and "yaw 0.0000 rad in odom" in facts

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Check every verdict that the planner used with shapely, which shares no code with this package.

Each answer is compared on the obstacle message on which it says that it rests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import shapely
from drive import Drive
from numpy.typing import NDArray
from shapely import affinity

UNKNOWN, FREE, COLLISION, MARGIN = range(4)  # msg/Verdict
NAMES = ("UNKNOWN", "FREE", "COLLISION", "MARGIN")
TOLERANCE = 1e-6  # m; closer than this to a threshold, shapely's own rounding decides


def placed(points: NDArray[np.float64], pose: Any) -> Any:
    """Return the shapely geometry of 1, 2 or more points at a pose (x [m], y [m], yaw [rad])."""
    kind = (shapely.Point, shapely.LineString)[len(points) - 1] if len(points) < 3 else None
    geometry = (kind or shapely.Polygon)(points[0] if len(points) == 1 else points)
    turned = affinity.rotate(geometry, float(pose[2]), origin=(0.0, 0.0), use_radians=True)
    return affinity.translate(turned, float(pose[0]), float(pose[1]))


@dataclass
class Result:
    """What the check found: disagreements in words, and what was compared."""

    disagreements: list[str] = field(default_factory=list)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)  # by service and name
    distances: int = 0  # compared
    borderline: int = 0  # within TOLERANCE of a threshold
    closest: float = np.inf  # m, of the path at its fine poses

    def expect(self, condition: bool, text: str) -> None:
        """Note `text` as a disagreement unless the condition holds."""
        if not condition:
            self.disagreements.append(text)


class Check:
    """Compares the planner's log with shapely."""

    def __init__(self, drive: Drive) -> None:
        self.drive = drive
        self.result = Result()
        self.message_of: dict[int, int] = {}  # by snapshot_id
        self.scene = cache(self._scene)

    def _scene(self, message: int) -> tuple[NDArray[Any], NDArray[np.float64], list[int]]:
        """Return geometries without radius, radii, and identifiers of one obstacle message."""
        seen = self.drive.obstacles(message)
        shapes = np.array([placed(o.points, o.pose) for o in seen])
        return shapes, np.array([o.radius for o in seen]), [o.id for o in seen]

    def distances(self, poses: Any, message: int) -> NDArray[np.float64]:
        """Return distances (poses, obstacles); 0 or less where they touch."""
        shapes, radii, _ = self.scene(message)
        egos = np.array([placed(self.drive.footprint, pose) for pose in poses])
        found: NDArray[np.float64] = shapely.distance(egos[:, None], shapes[None]) - radii
        return found

    def run(self, log: dict[str, Any]) -> Result:
        """Compare every answer, and the path at its fine poses."""
        for number, answer in enumerate(log["answers"]):
            label = f"answer {number} ({answer['service']})"
            claims = answer.get("verdicts", [answer["verdict"]])
            if not any(claims) and not answer["is_free"]:
                self.result.verdicts[answer["service"], "UNKNOWN"] += 1  # no claim
                continue
            try:
                message = self.drive.message(answer)
            except LookupError as error:
                self.result.disagreements.append(f"{label}: {error}")
                continue
            self.result.expect(
                self.message_of.setdefault(answer["snapshot_id"], message) == message,
                f"{label}: snapshot {answer['snapshot_id']} has stood for other obstacles before",
            )
            compare = self.poses if answer["service"] == "check_poses" else self.closest
            compare(label, answer, message)
        final = [a for a in log["answers"] if a["purpose"] == "path"][-1]
        self.result.closest = float(
            self.distances(log["fine_path"], self.drive.message(final)).min()
        )
        self.result.expect(self.result.closest > 0.0, "the path touches between its checked poses")
        return self.result

    def poses(self, label: str, answer: dict[str, Any], message: int) -> None:
        """Compare verdicts up to the first that is not free: the rest was not asked for."""
        verdicts = np.array(answer["verdicts"])
        free = verdicts == FREE
        used = len(verdicts) if free.all() else int(np.argmin(free)) + 1
        self.result.expect(
            answer["is_free"] == bool(free.all()), f"{label}: is_free is {answer['is_free']}"
        )
        truth = self.distances(answer["poses"][:used], message).min(axis=1)
        for i, (verdict, distance) in enumerate(zip(verdicts[:used], truth, strict=True)):
            self.verdict(f"{label} pose {i}", answer, int(verdict), float(distance))
        if answer["distances"]:
            apart = truth > 0.0  # shapely has no penetration depth
            self.result.distances += int(apart.sum())
            error = np.abs(np.array(answer["distances"][:used]) - truth)[apart].max(initial=0.0)
            self.result.expect(error <= TOLERANCE, f"{label}: distances differ by {error:.3g} m")

    def verdict(self, label: str, answer: dict[str, Any], verdict: int, distance: float) -> None:
        """Compare one verdict with what the distance [m] says."""
        self.result.verdicts[answer["service"], NAMES[verdict]] += 1
        margin = answer["margin"]
        if verdict == UNKNOWN:
            return  # no claim
        if min(abs(distance), abs(distance - margin)) <= TOLERANCE:
            self.result.borderline += 1
            return
        truth = COLLISION if distance <= 0.0 else MARGIN if distance <= margin else FREE
        self.result.expect(
            verdict == truth,
            f"{label}: {NAMES[verdict]}, shapely {NAMES[truth]} at {distance:.9f} m",
        )

    def closest(self, label: str, answer: dict[str, Any], message: int) -> None:
        """Compare the nearest obstacle, its distance and the closest points."""
        truth = self.distances(answer["poses"], message)[0]
        self.verdict(label, answer, answer["verdict"], float(truth.min()))
        self.result.expect(
            answer["is_free"] == (answer["verdict"] == FREE), f"{label}: is_free contradicts"
        )
        if truth.min() <= 0.0:
            return
        shapes, radii, ids = self.scene(message)
        nearest = ids.index(answer["ids"][0])
        distance = answer["distances"][0]
        ego_point, obstacle_point = (
            np.array(answer[side][0]) for side in ("witness_ego", "witness_obstacle")
        )
        ego = placed(self.drive.footprint, answer["poses"][0])
        self.result.distances += 1
        errors = (
            distance - truth.min(),
            truth[nearest] - truth.min(),
            np.linalg.norm(ego_point - obstacle_point) - distance,
            shapely.distance(ego, shapely.Point(ego_point)),
            shapely.distance(shapes[nearest], shapely.Point(obstacle_point)) - radii[nearest],
        )
        self.result.expect(
            max(abs(error) for error in errors[:-1]) <= TOLERANCE and errors[-1] <= TOLERANCE,
            f"{label}: closest pair differs: {errors}",
        )


def verify(log: dict[str, Any], drive: Drive) -> Result:
    """Check every answer in the planner's log."""
    return Check(drive).run(log)

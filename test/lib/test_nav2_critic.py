# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The costs of the critic in examples/nav2_critic, compiled without nav2 and judged by shapely."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from consumers import KERNEL_OBJECT, needs_cmake, run

shapely = pytest.importorskip("shapely", reason="shapely is not installed")

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/nav2_critic"
pytestmark = needs_cmake

LETHAL, UNKNOWN = 254, 255
BOX = [(0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3)]
ELL = [(0.5, -0.3), (0.5, 0.0), (0.0, 0.0), (0.0, 0.4), (-0.5, 0.4), (-0.5, -0.3)]
COLLISION = 1e6 * 3.81 / 254


@dataclass
class Case:
    """A costmap of 4 m x 4 m around (0, 0), and rollouts of shape (n, steps, 3)."""

    rollouts: Any
    footprint: Any = field(default_factory=lambda: BOX)
    cells: Any = field(default_factory=lambda: np.zeros((40, 40), np.uint8))
    columns: int = 40
    resolution: float = 0.1
    origin: tuple[float, float] = (-2.0, -2.0)
    unknown_is_occupied: bool = True
    is_near_goal: bool = False
    step: int = 1
    scaling: float = 0.0
    near_collision: int = 253
    power: int = 1
    threads: int = 1

    def words(self) -> str:
        poses = np.asarray(self.rollouts, np.float32).astype(float)
        values: list[Any] = [self.columns, self.resolution, *self.origin]
        for each in (self.cells, self.footprint):
            values += [np.size(each), *np.ravel(each)]
        values.append(poses.shape[1])
        for k in range(3):
            values += [poses[..., k].size, *poses[..., k].ravel()]
        values += [int(self.unknown_is_occupied), int(self.is_near_goal), self.step]
        values += [self.scaling, self.near_collision, self.power, self.threads]
        return " ".join(map(str, values)) + "\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the file of the example that needs no nav2."""
    built = tmp_path_factory.mktemp("nav2_critic") / "main"
    kernel = ["-DGJK_COMPILED", KERNEL_OBJECT] if KERNEL_OBJECT else ["-DGJK_SCALAR_ONLY"]
    done = run(
        "c++", "-std=c++20", "-O1", "-ffp-contract=off", "-DGJK_FP_CONTRACT_OFF",
        "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/src_cpp/include", f"-I{EXAMPLE}",
        EXAMPLE / "footprint_costs.cpp", ROOT / "test/lib/footprint_costs_main.cpp", *kernel,
        "-pthread", "-o", built,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return built


def answers(program: Path, case: Case) -> tuple[bool, Any, Any]:
    """Return whether all rollouts collide, which ones, and the costs."""
    done = subprocess.run(
        [program], input=case.words(), check=True, capture_output=True, text=True
    )
    first, *others = map(float, done.stdout.split())
    return bool(first), np.array(others[::2]) != 0, np.array(others[1::2])


def placed(footprint: Any, pose: Any) -> Any:
    x, y, yaw = (float(each) for each in pose)
    c, s = np.cos(yaw), np.sin(yaw)
    return shapely.Polygon([(x + c * u - s * v, y + s * u + c * v) for u, v in footprint])


def standing(*poses: tuple[float, float, float]) -> Any:
    """Return one rollout for each pose."""
    return np.array(poses)[:, None, :]


def one_cell(row: int, column: int, cost: int = LETHAL) -> Any:
    cells = np.zeros((40, 40), np.uint8)
    cells[row, column] = cost
    return cells


# The box at (0, 0) covers the rows 17 to 22 and the columns 15 to 24.
@pytest.mark.parametrize(
    ("cells", "collides"),
    [
        (one_cell(20, 24), True),  # under an edge; the cost at the centre is 0
        (one_cell(22, 24), True),  # under a corner
        (one_cell(20, 22), True),  # inside: touches no edge
        (one_cell(20, 26), False),
        (one_cell(20, 22, 253), False),  # inflated only
        (one_cell(20, 22, UNKNOWN), True),
    ],
)
def test_cells_that_cost_critic_misses_collide(program: Path, cells: Any, collides: bool) -> None:
    case = Case(standing((0.0, 0.0, 0.0)), cells=cells)
    every, each, costs = answers(program, case)
    assert every == each[0] == collides
    assert costs[0] == pytest.approx(COLLISION if collides else 0.0)


def test_unknown_cells_are_free_if_the_parameter_says_so(program: Path) -> None:
    cells = one_cell(20, 22, UNKNOWN)
    case = Case(standing((0.0, 0.0, 0.0)), cells=cells, unknown_is_occupied=False)
    assert not answers(program, case)[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"rollouts": standing((np.nan, 0.0, 0.0))},
        {"rollouts": standing((0.0, 0.0, np.nan))},
        {"rollouts": standing((0.0, 0.0, np.inf))},
        {"rollouts": standing((0.0, np.inf, 0.0))},
        {"rollouts": standing((2.5, 0.0, 0.0))},  # outside of the costmap
        {"rollouts": standing((0.0, -1.8, 0.0))},  # partly outside
        {"footprint": []},
        {"footprint": BOX[:2]},
        {"footprint": [BOX[k] for k in (0, 2, 1, 3)]},  # crossed
        {"resolution": 0.0},
        {"resolution": np.nan},
        {"resolution": -0.1},
        {"origin": (np.nan, 0.0)},
        {"origin": (1e15, 0.0)},
        {"columns": 0},
        {"columns": 39},
        {"cells": np.zeros(0, np.uint8)},
    ],
)
@pytest.mark.parametrize("scaling", [0.0, 3.0])
def test_what_cannot_be_checked_collides(
    program: Path, changes: dict[str, Any], scaling: float
) -> None:
    free = {"rollouts": standing((0.0, 0.0, 0.0)), "scaling": scaling}
    assert not answers(program, Case(**free))[0]
    every, each, costs = answers(program, Case(**{**free, **changes}))
    assert every and each.all() and costs == pytest.approx(COLLISION)


def test_all_collide_only_if_each_rollout_does(program: Path) -> None:
    case = Case(standing((0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)), cells=one_cell(20, 22))
    every, each, _ = answers(program, case)
    assert not every and each.tolist() == [True, False]


def random_case(seed: int, **options: Any) -> Case:
    """Return costs that are inflated a little around random cells, and curved rollouts."""
    rng = np.random.default_rng(seed)
    cells = rng.choice([0, 0, 0, 0, 17, 120, 252], (40, 40)).astype(np.uint8)
    cells[rng.random((40, 40)) < 0.012] = LETHAL
    speed, turn = rng.uniform(-0.1, 0.1, (60, 1)), rng.uniform(-0.1, 0.1, (60, 1))
    yaw = rng.uniform(-4.0, 4.0, (60, 1)) + turn * np.arange(20)
    start = rng.uniform(-1.5, 1.5, (2, 60, 1))
    x = start[0] + np.cumsum(speed * np.cos(yaw), axis=1)
    y = start[1] + np.cumsum(speed * np.sin(yaw), axis=1)
    return Case(np.stack([x, y, yaw], axis=-1), cells=cells, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"step": 2, "near_collision": 200, "threads": 2},
        {"step": 3, "power": 2, "footprint": ELL},
        {"scaling": 3.0, "near_collision": 200, "footprint": ELL},
        {"scaling": 8.0, "step": 2, "threads": 2},
        {"is_near_goal": True, "near_collision": 200},
    ],
)
def test_random_rollouts_have_the_costs_of_an_oracle(
    program: Path, options: dict[str, Any]
) -> None:
    shares = []
    for seed in range(8):
        case = random_case(seed, **options)
        rows, columns = np.nonzero(case.cells == LETHAL)
        low = np.stack([columns, rows], axis=-1) * 0.1 - 2.0
        solid = shapely.union_all(shapely.box(*low.T, *(low + 0.1).T))
        whole = shapely.box(-2.0, -2.0, 2.0, 2.0)
        _, collides, costs = answers(program, case)
        for rollout, collided, cost in zip(case.rollouts, collides, costs, strict=True):
            poses = rollout[:: case.step].astype(np.float32)
            bodies = [placed(case.footprint, each) for each in poses]
            hits = [body.intersects(solid) or not body.within(whole) for body in bodies]
            assert collided == any(hits), f"seed {seed}: {rollout.tolist()}"
            expected = 1e6 if collided else sum(map(pose_cost(case, solid), poses, bodies))
            weighted = (expected * 3.81 / 254 / len(poses)) ** case.power
            assert cost == pytest.approx(weighted, rel=1e-4), f"seed {seed}"
        shares.append(collides.mean())
    assert 0.2 < np.mean(shares) < 0.9


def pose_cost(case: Case, solid: Any) -> Any:
    """Return the cost of a free pose as nav2's CostCritic has it, or of its distance."""

    def cost(pose: Any, body: Any) -> float:
        column, row = np.floor((pose[:2].astype(float) + 2.0) / 0.1).astype(int)
        value = float(case.cells[row, column])
        if case.scaling > 0.0:
            value = 252.0 * np.exp(-case.scaling * body.distance(solid))
        if value >= case.near_collision:
            return 300.0
        return 0.0 if case.is_near_goal else value

    return cost

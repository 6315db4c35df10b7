# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""``srv/CheckShapes``: a verdict for each pair of shapes of two lists. It needs no snapshot."""

from ... import _core
from ...errors import InputError, refuse
from ...verdict import Status
from ..data.obstacles import Obstacles
from ..data.snapshot import Snapshot
from ..frames import fields
from ..frames.poses import Transforms
from ..parameters.config import Config
from .answers import Answer, answer_of
from .check_poses import least_of
from .poses import NO_LIMIT, Data
from .service import Service

__all__ = ["CheckShapes"]


class CheckShapes(Service):
    """A request of ``~/check_shapes``."""

    name = "check_shapes"
    may_be_large = True
    needs_data = needs_footprint = False
    digested = ("verdicts", "statuses", "distances"), ()

    def look_up(self, snapshot: Snapshot, transforms: Transforms) -> None:
        """Note the parameters. The shapes are in one frame, whose pose does not matter."""
        self._config = snapshot.config

    @property
    def is_large(self) -> bool:
        """Whether this request is computed in the second thread."""
        m = self.message
        return (len(m.pairs) // 2 or len(m.a.ids) * len(m.b.ids)) > 256

    def answer(self, data: Data, budget: _core.Budget = NO_LIMIT) -> Answer:
        """Compute the answer."""
        m, config = self.message, self._config
        a, b = Obstacles.of(m.a), Obstacles.of(m.b)
        if a.frame != b.frame:
            rule = f"must be in one frame (got '{a.frame}' and '{b.frame}')"
            refuse("b.header.frame_id", rule, status=Status.UNKNOWN_FRAME)
        _check_list("a", a, config)
        _check_list("b", b, config)
        one, other = (
            (each.offsets, each.xy, each.kinds, each.radius, each.poses) for each in (a, b)
        )
        return answer_of(
            _core.check_shapes(
                one,
                other,
                fields.numbers(m.pairs),
                int(m.mode),
                float(m.margin),
                getattr(_core.ConcavePolicy, config.concave_policy),
                config.max_poses,
                budget,
            )
        )

    def least(self, answer: Answer) -> tuple[float, float] | None:
        """Return the least distance of any pair."""
        return least_of(answer)


def _check_list(name: str, shapes: Obstacles, config: Config) -> None:
    try:
        shapes.check(config.max_obstacles, config.max_points_per_obstacle, need_ids=False)
    except InputError as error:
        argument = f"{name}.{error.argument}"
        raise InputError(error.status, argument, error.index, error.rule) from error

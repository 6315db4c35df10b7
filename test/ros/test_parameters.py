# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameter files, types and ranges, as a node of rclpy takes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rcl_interfaces.srv import DescribeParameters
from rclpy.parameter import Parameter
from server import Bench, Server

from gjk_collision.config import Config, parameter_facts

Start = Callable[..., tuple[Server, Bench]]


# ---- types and ranges


@pytest.fixture
def bench(start: Start) -> Bench:
    return start("typed", autostart=False)[1]


def test_descriptors_have_types_and_ranges(bench: Bench) -> None:
    values = Config().parameters()
    client = bench.node.create_client(DescribeParameters, "/typed/describe_parameters")
    bench.until(client.service_is_ready, "service describe_parameters")
    future = client.call_async(DescribeParameters.Request(names=list(values)))
    bench.until(future.done, "descriptors")
    ranges = 0
    for found in future.result().descriptors:
        value, facts = values[found.name], parameter_facts(found.name)
        assert not found.dynamic_typing, found.name
        kind = Parameter.Type.from_parameter_value((0.0,) if value == () else value)
        assert found.type == kind.value, found.name
        limits = [*found.floating_point_range, *found.integer_range]
        if type(value) in (int, float):
            assert [(each.from_value, each.to_value) for each in limits] == [
                (facts.low, facts.high)
            ]
            assert bool(found.integer_range) == (type(value) is int)
            ranges += 1
        else:
            assert not limits
    assert ranges > 15


def test_whole_numbers_and_empty_lists_take_the_type(bench: Bench) -> None:
    assert bench.set(safety_margin=1, max_poses=20.0, footprint=[1, 1, -1, 1, 0, -1]).successful
    assert [type(each) for each in bench.get("safety_margin", "max_poses")] == [float, int]
    assert list(bench.get("footprint")[0]) == [1.0, 1.0, -1.0, 1.0, 0.0, -1.0]
    assert bench.set(footprint=[]).successful
    assert list(bench.get("footprint")[0]) == []
    for change in (
        {"safety_margin": "wide"},
        {"safety_margin": True},
        {"safety_margin": float("nan")},
        {"max_poses": 1.5},
        {"max_poses": 0},
        {"autostart": 1},
        {"footprint": ["a"]},
        {"toi_tolerance": 1.0000000001},  # rclpy's range has a tolerance
    ):
        refused = bench.set(**change)
        assert not refused.successful, change
        assert refused.reason, change
    assert bench.get("safety_margin", "max_poses") == [1.0, 20]


def test_parameter_refused_at_the_start_is_refused_until_it_is_set(start: Start) -> None:
    _, bench = start("stubborn", **{"obstacles.timeout": "soon", "max_poses": 0.5})
    for name, value in (("max_poses", 10), ("obstacles.timeout", 1)):
        assert f"{name}: must be" in bench.collide().verdict.message
        assert not bench.transition("configure")
        assert bench.set(**{name: value}).successful
        bench.transition("configure")
    assert bench.transition("activate")


# ---- transitions


def test_transition_that_the_state_does_not_have_is_answered(bench: Bench) -> None:
    """Without an answer the client would wait for ever."""
    assert not bench.transition("activate")
    assert not bench.transition("no_such_transition")
    assert bench.transition("configure")
    assert not bench.transition("configure")

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Which transforms may be used together: those of one time, without a silence in between."""

from __future__ import annotations

import random

import pytest

from gjk_collision.server.frames import MAX_LEAD, Arrival, Arrivals

S = 1_000_000_000


@pytest.mark.requirement("D-10")
def test_far_ahead_of_the_clock_is_left_out() -> None:
    arrivals = Arrivals(10 * S)
    assert arrivals.take("odom", 10 * S + MAX_LEAD, 10 * S) is Arrival.USE
    assert arrivals.take("odom", 10 * S + MAX_LEAD + 1, 10 * S) is Arrival.LEAVE_OUT
    # One that is left out is no newest one: the next is no restart.
    assert arrivals.take("map", 3600 * S, 10 * S) is Arrival.LEAVE_OUT
    assert arrivals.take("map", 11 * S, 10 * S) is Arrival.USE


@pytest.mark.requirement("D-10")
def test_after_a_silence_nothing_older_is_used() -> None:
    arrivals = Arrivals(S)
    for k in range(20):  # a localiser, one second ahead
        now = S + k * S // 10
        assert arrivals.take("odom", now + S, now) is Arrival.USE
    assert arrivals.take("base_link", 8 * S, 8 * S) is Arrival.USE
    assert arrivals.take("odom", 9 * S, 8 * S) is Arrival.RESTART
    assert arrivals.take("odom", 9 * S + S // 10, 8 * S + S // 10) is Arrival.USE
    # After a silence, a transform that is not stamped ahead is used as it is.
    assert arrivals.take("base_link", 20 * S, 20 * S) is Arrival.USE
    # An old one that comes late does not hide the newest.
    assert arrivals.take("base_link", 19 * S, 20 * S) is Arrival.USE
    assert arrivals.take("base_link", 21 * S, 20 * S) is Arrival.USE


@pytest.mark.requirement("D-10")
def test_a_step_back_of_the_clock_begins_a_new_time() -> None:
    rng = random.Random(2)
    for _ in range(200):
        now = rng.randrange(S, 2_000_000_000 * S)
        arrivals = Arrivals(now)
        assert not arrivals.is_new_time(now)
        assert not arrivals.is_new_time(now + 1)
        assert arrivals.is_new_time(now)
        assert arrivals.is_new_time(now - rng.randrange(1, S))
    began = Arrivals(0)
    assert not began.is_new_time(0)
    assert began.take("odom", 5 * S, 0) is Arrival.USE
    assert not began.is_new_time(4 * S)  # the clock begins
    assert began.is_new_time(0)  # and is gone
    assert began.take("odom", 50 * S, 0) is Arrival.USE
    assert began.is_new_time(4 * S)  # and begins before what has come

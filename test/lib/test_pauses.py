# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A message that waited while the process took none is not counted as just received."""

from __future__ import annotations

import pytest

from gjk_collision.ros.pauses import NOTICED, PERIOD, SETTLED, Pauses

MS = 1_000_000
BEGIN = 5_000 * MS


def running(until: int) -> Pauses:
    """Alive at every period from BEGIN to a time."""
    pauses = Pauses(BEGIN)
    for steady in range(BEGIN, until + 1, round(PERIOD * 1e9)):
        pauses.note_activity(steady)
    return pauses


def test_while_the_process_runs_a_message_is_new() -> None:
    pauses = running(BEGIN + 1000 * MS)
    for later in (0, 20, 100):
        assert pauses.earliest(BEGIN + (1000 + later) * MS) == BEGIN + (1000 + later) * MS


@pytest.mark.requirement("D-12")
@pytest.mark.parametrize("is_message_first", [False, True])
def test_after_a_pause_all_that_waited_is_as_old_as_the_pause(is_message_first: bool) -> None:
    stopped, resumed = BEGIN + 1000 * MS, BEGIN + 3000 * MS
    pauses = running(stopped)
    if not is_message_first:
        pauses.note_activity(resumed)
    for later in range(0, SETTLED // MS + 1, 50):
        assert pauses.earliest(resumed + later * MS) == stopped
    settled = resumed + SETTLED + 50 * MS
    assert pauses.earliest(settled) == settled


@pytest.mark.requirement("D-12")
def test_pauses_one_after_the_other() -> None:
    """The oldest counts until it has settled, and no longer."""
    pauses = running(BEGIN)
    ends = [BEGIN + k * (NOTICED + MS) for k in range(1, 20)]
    for end in ends:
        earliest = pauses.earliest(end)
        assert BEGIN <= earliest < end
        assert end - earliest <= SETTLED + 2 * (NOTICED + MS)


def test_a_short_life_between_two_pauses_does_not_end_the_first() -> None:
    """After 20 ms of life the queues of the first pause are not empty yet."""
    pauses = running(BEGIN)
    pauses.note_activity(BEGIN + 1000 * MS)
    pauses.note_activity(BEGIN + 1020 * MS)
    assert pauses.earliest(BEGIN + 1920 * MS) == BEGIN

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A message that waited while the process took none is not counted as just received."""

from __future__ import annotations

import pytest

from gjk_collision.server.pauses import NOTICED, PERIOD, SETTLED, Pauses, sending_time

MS = 1_000_000
BEGIN = 5_000 * MS


# Later than all times here: a message that was sent after every pause.
NOW = 10**15


def running(until: int) -> Pauses:
    pauses = Pauses(BEGIN)
    for steady in range(BEGIN, until + 1, round(PERIOD * 1e9)):
        pauses.note_activity(steady)
    return pauses


def test_while_the_process_runs_a_message_is_new() -> None:
    pauses = running(BEGIN + 1000 * MS)
    for later in (0, 20, 100):
        assert pauses.earliest(BEGIN + (1000 + later) * MS, NOW) == BEGIN + (1000 + later) * MS


@pytest.mark.requirement("D-12")
@pytest.mark.parametrize("is_message_first", [False, True])
def test_after_a_pause_all_that_waited_is_as_old_as_the_pause(is_message_first: bool) -> None:
    stopped, resumed = BEGIN + 1000 * MS, BEGIN + 3000 * MS
    pauses = running(stopped)
    if not is_message_first:
        pauses.note_activity(resumed)
    for later in range(0, SETTLED // MS + 1, 50):
        assert pauses.earliest(resumed + later * MS, NOW) == stopped
    settled = resumed + SETTLED + 50 * MS
    assert pauses.earliest(settled, NOW) == settled


@pytest.mark.requirement("D-12")
def test_pauses_one_after_the_other() -> None:
    """The oldest counts until it has settled, and no longer."""
    pauses = running(BEGIN)
    ends = [BEGIN + k * (NOTICED + MS) for k in range(1, 20)]
    for end in ends:
        earliest = pauses.earliest(end, NOW)
        assert BEGIN <= earliest < end
        assert end - earliest <= SETTLED + 2 * (NOTICED + MS)


def test_a_short_life_between_two_pauses_does_not_end_the_first() -> None:
    """After 20 ms of life the queues of the first pause are not empty yet."""
    pauses = running(BEGIN)
    pauses.note_activity(BEGIN + 1000 * MS)
    pauses.note_activity(BEGIN + 1020 * MS)
    assert pauses.earliest(BEGIN + 1920 * MS, NOW) == BEGIN


@pytest.mark.requirement("D-12")
@pytest.mark.parametrize("later", [SETTLED + 50 * MS, 3_600_000 * MS])
def test_message_of_a_pause_is_never_new(later: int) -> None:
    """A slow process may read it at any time, and after other pauses."""
    stopped, resumed = BEGIN + 1000 * MS, BEGIN + 3000 * MS
    pauses = running(stopped)
    for steady in range(resumed, resumed + later, round(later / 100)):
        pauses.note_activity(steady)
    for sent in (stopped - 500 * MS, stopped, stopped + 1, resumed - 1):
        assert pauses.earliest(resumed + later, sent) <= sent


def test_message_that_was_sent_after_the_pause_is_new() -> None:
    stopped, resumed = BEGIN + 1000 * MS, BEGIN + 3000 * MS
    pauses = running(stopped)
    for later in range(0, SETTLED + 100 * MS, 50 * MS):
        pauses.note_activity(resumed + later)
    assert pauses.earliest(resumed + SETTLED + 120 * MS, resumed) == resumed + SETTLED + 120 * MS
    assert pauses.earliest(resumed + SETTLED + 120 * MS, resumed - 1) == stopped


@pytest.mark.parametrize(
    ("source", "received", "expected"),
    [
        (40, 50, 40),  # by the clock of the sender
        (70, 50, 50),  # the clock of the sender is ahead of that of this machine
        (40, 0, 40),  # a middleware without times of the reception
        (0, 50, 50),  # and one without those of the sender
        (0, 0, 100),  # none: only the time at which it is read is known
        (400, 0, 400),  # the clock of the sender is ahead, and there is no other time
    ],
)
def test_time_at_which_a_message_was_sent(source: int, received: int, expected: int) -> None:
    """The system clock is at 1000 s and 100 ms when the steady clock is at 5 s and 100 ms."""
    zero = 1_000_000 * MS
    info = {
        "source_timestamp": source and zero + source * MS,
        "received_timestamp": received and zero + received * MS,
    }
    sent = sending_time(info, BEGIN + 100 * MS, zero + 100 * MS)
    assert sent == BEGIN + expected * MS

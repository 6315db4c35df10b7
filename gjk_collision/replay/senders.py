# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""What changes in the messages of a sender, or in the transforms of a frame: one `Cause` each."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

__all__ = ["BACK", "LATE", "Cause", "Sender"]

# s. What comes back within this time has not ended.
BACK = 2.0

# Share of the timeout of a source. A longer silence or delay is told, even if no answer changes.
LATE = 0.5

# s. The rate of messages is that in this time.
RATE_TIME = 2.0

# A silence is longer than this number of usual periods.
PERIODS = 4.0


@dataclass(slots=True, eq=False)
class Cause:
    """A change in the data, from one log time to another. Its text is known at its end.

    Attributes
    ----------
    kind : str
        Name of the change, in words.
    head, tail : str
        The text before the times, and after them.
    begin, end, last : float
        Begin and end, and begin of the last time [s].
    size : float
        The largest amount so far.
    times : int
        How often it happened.
    is_open : bool
        Whether its end is not known.
    ids : tuple of int
        Obstacles that it concerns.
    source : str
        Their source.
    """

    kind: str
    head: str
    begin: float
    end: float
    last: float
    tail: str = ""
    size: float = -inf
    times: int = 1
    is_open: bool = False
    ids: tuple[int, ...] = ()
    source: str = ""

    def __str__(self) -> str:
        times = f"{self.times} times " if self.times > 1 else ""
        span = f"at {self.begin:.3f} s"
        if self.is_open:
            span = f"since {self.begin:.3f} s"
        elif self.end > self.begin:
            span = f"from {self.begin:.3f} to {self.end:.3f} s"
        return f"{self.head} {times}{span}{self.tail}"


class Sender:
    """The times and the frames of the messages of one sender. Times are log times [s].

    Parameters
    ----------
    note : callable
        Called with each new cause.
    what, where : str
        "message" or "transform", and of which topic or frame.
    limit : float
        Largest age of the data [s]; inf: it never becomes too old.
    """

    def __init__(self, note: Callable[[Cause], None], what: str, where: str, limit: float) -> None:
        self._note, self._what, self._where, self.limit = note, what, where, limit
        self.fields: Any = None
        self.t = nan  # of the last message
        self.stamp = self._last = 0  # the newest header stamp, and the last one [ns]
        self._newest = self._same = nan  # first times of a message with them
        self._is_late = self._is_back = False  # the last message
        self._early = inf  # smallest age of a message when it is recorded [s]
        self._times = deque[float]()
        self._begin = nan  # of the time in which messages are counted
        self._usual = 0  # number of messages in RATE_TIME
        self._first, self._tried = 0, -inf  # the last number that may be usual, and its time
        self._frames = set[str]()  # those that are usual
        self._frame = ""
        self._causes = dict[str, Cause]()

    def is_in_force(self, kind: str) -> Cause | None:
        """Return the cause of a kind that has lasted until the last message; None: none has."""
        found = self._causes.get(kind)
        return found if found is not None and found.end >= self.t else None

    def receive(self, t: float, stamp: int, now: int, fields: Any) -> None:
        """Note a message with a header stamp, at the present time `now` [ns]."""
        age, is_first = (now - stamp) * 1e-9, self.fields is None
        # A stamp that is far ahead of the others says nothing about them.
        if now and (self._early == inf or age > self._early - LATE * self.limit):
            self._early = min(self._early, age)
        is_late = stamp != self._last and age - self._early > LATE * self.limit
        self._count(t, age - self._early, is_late=is_late)
        self._check_frame(t, fields)
        if stamp == self._last and not is_first:
            if self._what == "message" and t - self._same > LATE * self.limit:
                self._freeze(t)
        elif stamp < self.stamp and self._what == "message":  # transforms are put in order
            amount = (self.stamp - stamp) * 1e-9 + t - self._newest
            kind = "step back of header stamps"
            tail = ", by {:.3f} s against the log times; older messages are not used"
            found = self._say(kind, f"{kind} {self._where}", t, t, amount, tail)
            if found.begin < t and not self._is_back:
                found.times += 1
                found.head = f"{self._what}s {self._where} are out of order"
            self._is_back = True
        elif is_late:
            back = self._causes.get("step back of header stamps")
            if back is not None and back.end >= self.t:  # and they stay behind
                back.end = t
            else:
                self._delay(t, t, age - self._early, "later than before")
        self._same = t if stamp != self._last or is_first else self._same
        if stamp > self.stamp or is_first:
            self.stamp, self._newest, self._is_back = stamp, t, False
        self._is_late, self._last, self.t, self.fields = is_late, stamp, t, fields

    def finish(self, t: float) -> None:
        """Note the silence at the end of the bag, at the time `t` [s]."""
        usual = PERIODS * RATE_TIME / self._usual if self._usual else inf
        if t - self.t > max(self.limit, usual):
            self._silence(t).is_open = True

    def stalled(self, t: float, age: float) -> Cause:
        """Return why the newest data is `age` old at the time `t` [s]."""
        if 2.0 * (t - self.t) > age > 0.0 or t - self.t > self.limit:
            found = self._silence(t)
            found.is_open = True
            return found
        if back := self.is_in_force("step back of header stamps"):
            return back
        if self.t > self._same:
            return self._freeze(self.t)
        if self._is_late and (delayed := self._causes.get("delayed")):
            return delayed
        found = self._delay(self.t, t, age, "old when they are recorded")
        found.is_open = True  # they have always been
        return found

    def _count(self, t: float, late: float, *, is_late: bool) -> None:
        """Note the silence before a message at `t`, and the rate."""
        gap, silence = t - self.t, self._causes.get("silence")
        is_open = silence is not None and silence.is_open
        rate = (self._usual or len(self._times)) / RATE_TIME
        if is_open or gap > max(LATE * self.limit, PERIODS / rate if rate else inf):
            silence = self._silence(t)
            silence.is_open = False
            if is_late and late > 0.5 * gap and silence.times == 1:
                # The messages were on their way.
                self._causes["delayed"] = self._causes.pop("silence")
                silence.size = -inf
            self._times.clear()
        if not self._times:
            self._begin = t
        self._times.append(t)
        while self._times[0] <= t - RATE_TIME:
            self._times.popleft()
        if not t - self._begin >= RATE_TIME:
            return
        count = len(self._times)
        if not self._usual and t - self._tried >= 0.5 * RATE_TIME:
            is_same = abs(count - self._first) <= 0.25 * self._first  # as 1 s before
            self._usual, self._first, self._tried = count * is_same, count, t
        is_other = not 0.6 * self._usual < count < 1.7 * self._usual
        if is_other and self._usual >= 4 and isfinite(self.limit):
            old, new = self._usual / RATE_TIME, count / RATE_TIME
            head = f"rate {self._where}: {old:g} -> {new:g} Hz"
            size = abs(count - self._usual)
            found = self._say("rate", head, t - RATE_TIME, t, size)
            found.head = head if found.size == size else found.head

    def _check_frame(self, t: float, fields: Any) -> None:
        frame = fields.header.frame_id
        if frame != self._frame and self._frame and frame not in self._frames:
            known = " or ".join(map(repr, sorted(self._frames)))
            head = f"frame_id {self._where}: {known} -> {frame!r}"
            self._say("frame_id", head, t, t)
        elif (found := self._causes.get("frame_id")) and frame not in self._frames:
            found.end = t
        if not self._frames or t - self._begin < RATE_TIME > t:
            self._frames.add(frame)
        self._frame = frame

    @property
    def _delayed(self) -> str:
        return "late transform" if self._what == "transform" else "delayed"

    def _silence(self, t: float) -> Cause:
        head = f"silence: no {self._what} {self._where}"
        found = self._say("silence", head, self.t, t, t - self.t)
        found.tail = f", for up to {found.size:.3f} s" if found.times > 1 else ""
        return found

    def _freeze(self, t: float) -> Cause:
        head = f"frozen: {self._what}s {self._where} have the same header stamp"
        return self._say("frozen", head, self._same, t)

    def _delay(self, begin: float, t: float, age: float, how: str) -> Cause:
        head = f"delayed: {self._what}s {self._where}"
        found = self._say("delayed", head, begin, t, age, f", {{:.3f}} s {how}")
        found.kind, found.head = self._delayed, head
        return found

    def _say(
        self, kind: str, head: str, begin: float, end: float, size: float = 0.0, tail: str = ""
    ) -> Cause:
        """Return the cause of a kind: a new one, or the last one, which has come back."""
        found = self._causes.get(kind)
        if found is None or begin - found.end > BACK:
            found = self._causes[kind] = Cause(kind, head, begin, end, begin)
            self._note(found)
        elif kind in ("silence", "frame_id") and begin > found.last:
            found.times += 1
            found.last = begin
        found.end = end
        if size > found.size:
            found.size, found.tail = size, tail.format(size)
        return found

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The time budget of a request: long ones are answered in chunks, with a look at the clock."""

from collections.abc import Callable, Iterator
from time import perf_counter

__all__ = ["chunks"]

# A chunk takes about this long: much against the cost of a call into the kernel, little against
# the time budget.
CHUNK_TIME = 0.002  # s


def chunks(
    count: int, first: int, is_late: Callable[[], bool] | None
) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each chunk of `count` rows, until all are done or the time is spent.

    Parameters
    ----------
    count : int
        Rows.
    first : int
        Rows of the first chunk; how long it takes decides the size of the next, and so on.
    is_late : callable or None
        Says when the time is spent. None: there is no budget, and one chunk is the whole.
    """
    size = count if is_late is None else first
    begin = 0
    while begin < count:
        end = min(begin + size, count)
        started = perf_counter()
        yield begin, end
        if is_late is not None and is_late():
            return
        size = max(1, round(size * min(8.0, CHUNK_TIME / (perf_counter() - started))))
        begin = end

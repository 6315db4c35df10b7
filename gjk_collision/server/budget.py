# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The time budget of a request: a long request is computed in chunks, with a check of the time."""

from collections.abc import Callable, Iterator
from time import perf_counter

__all__ = ["chunks"]

# Duration of a chunk [s]: long compared with the overhead of a call of the kernel, short compared
# with the time budget.
CHUNK_TIME = 0.002


def chunks(
    count: int, first: int, is_late: Callable[[], bool] | None
) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each chunk of `count` rows, until all are done or the time is over.

    Parameters
    ----------
    count : int
        Number of rows.
    first : int
        Number of rows in the first chunk. The size of each next chunk is computed from the
        duration of the one before.
    is_late : callable or None
        Returns whether the time budget is used up. None: there is no budget and only one chunk.
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

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay of many cases: one after the other, in processes, or on a Dask cluster.

If a process or a worker dies, its unfinished cases run again in another one.
"""

import multiprocessing
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..replay.case import Case
from .outcome import Outcome, Result, outcome_text
from .run import Options, run, write_summary

__all__ = ["ClusterError", "run_all"]

# A case whose process died this many times is not run again: it probably causes the deaths.
ATTEMPTS = 2

CLUSTER_WAIT = 60.0  # s, for the scheduler and for its first worker

Results = Generator[Result, None, None]


class ClusterError(Exception):
    """There is no Dask scheduler at the address, or it has no worker."""


def run_all(
    cases: Sequence[Case],
    out: Path,
    options: Options,
    jobs: int = 1,
    *,
    scheduler: str | None = None,
    show: bool = False,
) -> list[Result]:
    """Replay all cases, and write a report of each case and a common one into `out`.

    Parameters
    ----------
    cases : sequence of Case
        Cases with different names.
    out : Path
        Folder for the reports. It is created if it does not exist.
    options : Options
        Options for all cases.
    jobs : int
        Number of processes.
    scheduler : str, optional
        Address of a Dask scheduler, which replaces `jobs`.
    show : bool
        Whether to show the progress on a terminal.

    Returns
    -------
    list of Result
        One result for each case, in the same order.

    Raises
    ------
    ClusterError
        There is no scheduler at the address, or it has no worker.
    """
    out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Result] = {}
    tell = _tell if show and sys.stderr.isatty() else (lambda text: None)
    if scheduler is not None:
        results = _on_cluster(cases, out, options, scheduler)
    elif jobs > 1 and len(cases) > 1:
        results = _in_processes(cases, out, options, jobs)
    else:
        results = _here(cases, out, options, tell)
    try:
        for result in results:
            found[result.name] = result
            tell(f"{len(found)} of {len(cases)} replays")
    except KeyboardInterrupt:
        results.close()
    tell("")
    ordered = [found.get(case.name) or _not_replayed(case) for case in cases]
    if len(cases) > 1:
        _write_merged(out, ordered, options)
    return ordered


def _tell(text: str) -> None:
    """Write a text in the place of the one before."""
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _tell_share(tell: Callable[[str], None], name: str, done: int, total: int) -> None:
    tell(f"{name}: {done / max(total, 1):.0%}")


def _here(
    cases: Sequence[Case], out: Path, options: Options, tell: Callable[[str], None]
) -> Results:
    for case in cases:
        try:
            result = run(case, out, options, partial(_tell_share, tell, case.name))
        except OSError:  # the reports cannot be written
            raise
        except Exception as error:
            if len(cases) == 1:
                raise
            result = _lost(case, repr(error))
        yield result
        if result.outcome is Outcome.INTERRUPTED:
            return


def _lost(case: Case, why: str) -> Result:
    return Result(case.name, Outcome.BROKEN, [f"not replayed: {why}"])


def _not_replayed(case: Case) -> Result:
    return Result(case.name, Outcome.INTERRUPTED, ["interrupted: not replayed"])


def _in_processes(cases: Sequence[Case], out: Path, options: Options, jobs: int) -> Results:
    """Run the cases in new processes, which inherit no threads and locks of this process."""
    context = multiprocessing.get_context("spawn")
    left = {case.name: case for case in cases}
    others = set(multiprocessing.active_children())
    for is_alone in (False, True):
        # If a process dies, its whole pool breaks. Then each case has a pool of its own.
        groups = [[case] for case in left.values()] if is_alone else [list(left.values())]
        for group in filter(None, groups):
            with ProcessPoolExecutor(min(jobs, len(group)), context) as pool:
                try:
                    for result in _in_pool(pool, group, out, options):
                        del left[result.name]
                        yield result
                except (KeyboardInterrupt, GeneratorExit):
                    for each in set(multiprocessing.active_children()) - others:
                        each.kill()
                    raise
    for case in left.values():
        yield _lost(case, f"its process died {ATTEMPTS} times")


def _on_cluster(cases: Sequence[Case], out: Path, options: Options, scheduler: str) -> Results:
    """Run the cases on the workers of a scheduler, which find all files at the same paths."""
    import distributed

    cluster: Any = distributed  # its type hints are incomplete
    with ExitStack() as stack:
        try:
            client = cluster.Client(scheduler, timeout=CLUSTER_WAIT, set_as_default=False)
            stack.enter_context(client)
            client.wait_for_workers(1, timeout=CLUSTER_WAIT)
        except (OSError, TimeoutError, ValueError) as error:
            text = f"no Dask scheduler with a worker at {scheduler}: {error}"
            raise ClusterError(text) from error
        pool = client.get_executor(pure=False, retries=ATTEMPTS - 1)
        absolute = [replace(case, bag=case.bag.resolve()) for case in cases]
        yield from _in_pool(pool, absolute, out.resolve(), options)


def _in_pool(pool: Executor, cases: Sequence[Case], out: Path, options: Options) -> Results:
    """Yield the results of the cases whose process does not die."""
    # The processes inherit the blocked signal: a terminal sends it to them too, but they are
    # ended by this process.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        futures = {pool.submit(run, case, out, options): case for case in cases}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for future in as_completed(futures):
        try:
            error = future.exception()
        except CancelledError as cancelled:  # the scheduler is lost
            error = cancelled
        if error is None:
            yield future.result()
        elif not isinstance(error, BrokenProcessPool):
            yield _lost(futures[future], repr(error))


def _write_merged(out: Path, results: Sequence[Result], options: Options) -> None:
    merged: dict[str, Any] = {
        "outcome": outcome_text(results),
        "replays": [
            result.summary
            or {
                "name": result.name,
                "outcome": outcome_text([result]),
                "failures": result.failures,
            }
            for result in results
        ],
    }
    write_summary(out, merged, results)
    if options.page:
        from .page import overview

        (out / "index.html").write_text(overview(results), encoding="utf-8")

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay of many cases: one after the other, in processes, or on a Dask cluster.

If a process or a worker dies, its unfinished cases run again in another one.
"""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..replay.case import Case
from .outcome import Outcome, Result, outcome_text
from .run import Options, run, write_summary

__all__ = ["ClusterError", "run_all"]

# A case whose process died this many times is not run again: it probably causes the deaths.
ATTEMPTS = 3

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
        result = run(case, out, options, partial(_tell_share, tell, case.name))
        yield result
        if result.outcome is Outcome.INTERRUPTED:
            return


def _lost(case: Case, why: str) -> Result:
    return Result(case.name, Outcome.BROKEN, [f"not replayed: {why}"])


def _not_replayed(case: Case) -> Result:
    return Result(case.name, Outcome.INTERRUPTED, ["interrupted: not replayed"])


# In a process of the pool: whether to stop, set by the main process.
_stop: Any = None


def _start_process(stop: Any) -> None:
    global _stop  # noqa: PLW0603
    _stop = stop


def _run_unless_stopped(case: Case, out: Path, options: Options) -> Result:
    """Run a case. After a stop, its reports are those of the part before."""

    def progress(done: int, total: int) -> None:
        if _stop.is_set():
            raise KeyboardInterrupt

    return _not_replayed(case) if _stop.is_set() else run(case, out, options, progress)


@contextmanager
def _stopped_by_interrupt(stop: Any) -> Iterator[None]:
    """Set `stop` at the first SIGINT; at the second, raise KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        text = "interrupted: the reports of the bags that are being replayed are written; "
        print(text + "press Ctrl-C again to end without them", file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_processes(cases: Sequence[Case], out: Path, options: Options, jobs: int) -> Results:
    """Run the cases in new processes, which inherit no threads and locks of this process."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    left = {case.name: case for case in cases}
    others = set(multiprocessing.active_children())
    with _stopped_by_interrupt(stop):
        for attempt in range(ATTEMPTS):
            # If a process dies, its whole pool breaks. In the last attempt each case has a pool of
            # its own, so that it cannot break other cases.
            is_last = attempt == ATTEMPTS - 1
            groups = [[case] for case in left.values()] if is_last else [list(left.values())]
            for group in filter(None, groups):
                if stop.is_set():
                    return
                pool = ProcessPoolExecutor(min(jobs, len(group)), context, _start_process, (stop,))
                try:
                    for result in _in_pool(pool, _run_unless_stopped, group, out, options):
                        del left[result.name]
                        yield result
                except (KeyboardInterrupt, GeneratorExit):
                    for each in set(multiprocessing.active_children()) - others:
                        each.kill()
                    raise
                finally:
                    pool.shutdown(cancel_futures=True)
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
        yield from _in_pool(pool, run, absolute, out.resolve(), options)


def _in_pool(
    pool: Executor,
    task: Callable[[Case, Path, Options], Result],
    cases: Sequence[Case],
    out: Path,
    options: Options,
) -> Results:
    """Yield the results of the cases whose process does not die."""
    # The processes inherit the blocked signal, which a terminal sends to them too.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        futures = {pool.submit(task, case, out, options): case for case in cases}
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

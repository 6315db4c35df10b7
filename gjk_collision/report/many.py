# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay of many cases: in sequence, in processes of this machine, or on a Dask cluster.

Each case runs independently and returns its reports as bytes, so a worker only needs access to the
bag. If a worker is lost, its unfinished cases run again in another one.
"""

import asyncio
import logging
import multiprocessing
import signal
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from ..replay.case import Case
from .outcome import Outcome, Result, outcome_text
from .run import Options, Progress, run, write_summary

__all__ = ["ClusterError", "run_all"]

# A case whose worker was lost this many times is not run again: it probably causes the losses.
ATTEMPTS = 3


# Times without a worker of a Dask scheduler, before a message and before the end [s], and the
# period of looking for workers [s].
WORKER_NOTICE, WORKER_LIMIT, WORKER_PERIOD = 3.0, 60.0, 1.0

# In Python 3.10, the error of asyncio is not the builtin one.
TimeoutErrors = TimeoutError, asyncio.TimeoutError


class ClusterError(Exception):
    """There is no Dask scheduler at the address, or it has no worker."""


Delivery = tuple[Result, dict[str, bytes]]


def run_all(
    cases: Sequence[Case],
    out: Path,
    options: Options,
    jobs: int = 1,
    scheduler: str | None = None,
    *,
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
        Number of processes on this machine.
    scheduler : str
        Address of a Dask scheduler; it replaces `jobs`. Its workers must find the bags at the same
        paths.
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
    with _progress(show, len(cases)) as watch:
        if scheduler is not None:
            deliveries = _on_cluster(cases, options, scheduler)
        elif jobs > 1 and len(cases) > 1:
            deliveries = _in_processes(cases, options, jobs)
        else:
            deliveries = _here(cases, out, options, watch)
        try:
            for result, files in deliveries:
                _write(out / result.name, files)
                found[result.name] = result
                watch(None)(len(found), len(cases))
        except KeyboardInterrupt:
            deliveries.close()
    for case in cases:
        found.setdefault(case.name, _not_replayed(case))
    results = [found[case.name] for case in cases]
    if len(cases) > 1:
        _write_merged(out, results, options)
    return results


def _here(
    cases: Sequence[Case], out: Path, options: Options, watch: Callable[[str | None], Progress]
) -> Generator[Delivery, None, None]:
    for case in cases:
        result = run(case, out, options, watch(case.name))
        yield result, {}
        if result.outcome is Outcome.INTERRUPTED:
            return


def _deliver(case: Case, options: Options, progress: Progress | None = None) -> Delivery:
    """Run a case in a temporary folder; return the result and the compressed reports."""
    with tempfile.TemporaryDirectory() as folder:
        result = run(case, Path(folder), options, progress)
        files = sorted(Path(folder, case.name).iterdir())
        return result, {each.name: zlib.compress(each.read_bytes(), 1) for each in files}


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(zlib.decompress(data))


def _lost(case: Case, why: str) -> Delivery:
    return Result(case.name, Outcome.BROKEN, [f"not replayed: {why}"]), {}


def _not_replayed(case: Case) -> Result:
    return Result(case.name, Outcome.INTERRUPTED, ["interrupted: not replayed"])


# In a process of the pool: whether to stop, set by the main process.
_stop: Any = None


def _start_process(stop: Any) -> None:
    global _stop  # noqa: PLW0603
    _stop = stop


def _deliver_unless_stopped(case: Case, options: Options) -> Delivery:
    """Do as `_deliver`. After a stop, it returns the reports of the part before."""

    def progress(done: int, total: int) -> None:
        if _stop.is_set():
            raise KeyboardInterrupt

    return (_not_replayed(case), {}) if _stop.is_set() else _deliver(case, options, progress)


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


def _in_processes(
    cases: Sequence[Case], options: Options, jobs: int
) -> Generator[Delivery, None, None]:
    """Run the cases in new processes, which inherit no threads and locks of this process."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    with _stopped_by_interrupt(stop):
        yield from _in_pools(cases, options, jobs, context, stop)


def _in_pools(
    cases: Sequence[Case], options: Options, jobs: int, context: Any, stop: Any
) -> Generator[Delivery, None, None]:
    left = {case.name: case for case in cases}
    others = set(multiprocessing.active_children())
    for attempt in range(ATTEMPTS):
        # If a process dies, its whole pool breaks. In the last attempt each case has a pool of its
        # own, so that it cannot break other cases.
        groups = [[case] for case in left.values()] if attempt == ATTEMPTS - 1 else [
            list(left.values())
        ]  # fmt: skip
        for group in groups:
            if stop.is_set():
                return
            pool = ProcessPoolExecutor(min(jobs, len(group)), context, _start_process, (stop,))
            try:
                # The processes inherit the blocked signal, which a terminal sends to them too.
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                try:
                    futures = {
                        pool.submit(_deliver_unless_stopped, case, options): case for case in group
                    }
                finally:
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                for future in as_completed(futures):
                    case = futures[future]
                    try:
                        delivery = future.result()
                    except BrokenProcessPool:
                        continue
                    except Exception as error:
                        delivery = _lost(case, repr(error))
                    del left[case.name]
                    yield delivery
            except (KeyboardInterrupt, GeneratorExit):
                for each in set(multiprocessing.active_children()) - others:
                    each.kill()
                raise
            finally:
                pool.shutdown(cancel_futures=True)
        if not left:
            return
    for case in left.values():
        yield _lost(case, f"its process died {ATTEMPTS} times")


def _on_cluster(
    cases: Sequence[Case], options: Options, scheduler: str
) -> Generator[Delivery, None, None]:
    import distributed

    cluster: Any = distributed  # its type hints are incomplete
    for name in logging.root.manager.loggerDict:
        # Their errors are in the results. asyncio logs requests that `_Workers.result` ended.
        if name.partition(".")[0] in ("distributed", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        client = cluster.Client(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler at {scheduler}: {error}") from error
    with client:
        _wait_for_worker(client, scheduler)
        ask = partial(client.submit, _deliver, options=options, pure=False)
        futures = {
            ask(replace(case, bag=case.bag.resolve()), retries=ATTEMPTS - 1): case
            for case in cases
        }
        done = cluster.as_completed(list(futures), loop=client.loop)
        workers = _Workers(client, scheduler)
        while not done.is_empty():
            batch = done.next_batch(block=False)
            if not batch and workers.are_gone():
                break
            if not batch:
                sleep(0.05)
            for future in batch:
                case = futures.pop(future)
                try:
                    delivery = workers.result(future)
                except Exception as error:
                    lost = f"the scheduler at {scheduler} was lost"
                    why = str(error) if isinstance(error, ClusterError) else repr(error)
                    delivery = _lost(case, lost if future.cancelled() else why)
                yield delivery
                future.release()
        for case in futures.values():
            yield _lost(case, str(workers.error()))


class _Workers:
    """Reports a scheduler that has lost all its workers.

    Parameters
    ----------
    client : distributed.Client
        A client of the scheduler.
    scheduler : str
        Address of the scheduler.
    """

    def __init__(self, client: Any, scheduler: str) -> None:
        self.none = f"the scheduler at {scheduler} has no worker"
        self._client = client
        self._asked = monotonic()
        self._gone: float | None = None  # time of the first look that found no worker
        self._is_said = False

    def are_gone(self) -> bool:
        """Return whether there was no worker for `WORKER_LIMIT`; report it after a notice time.

        The time begins when no worker is found, and not when one was found last: this process may
        have been busy or stopped in between.
        """
        now = monotonic()
        if now - self._asked >= WORKER_PERIOD:
            self._asked = now
            # Without a connection, the futures are cancelled.
            if self._client.status != "running" or self._has_worker():
                self._gone, self._is_said = None, False
            elif self._gone is None:
                self._gone = now
        if self._gone is None:
            return False
        missing = now - self._gone
        if missing >= WORKER_NOTICE and not self._is_said:
            self._is_said = True
            text = f"{self.none}; waiting up to {WORKER_LIMIT:g} s"
            print(text, file=sys.stderr, flush=True)
        return missing >= WORKER_LIMIT

    def error(self) -> ClusterError:
        """Return the error of cases that were not replayed because all workers are gone."""
        return ClusterError(f"{self.none}: none came within {WORKER_LIMIT:g} s")

    def result(self, future: Any) -> Delivery:
        """Return the result of a finished case.

        The worker that holds it may be lost. The case is then replayed again, by another worker.

        Raises
        ------
        ClusterError
            All workers are gone.
        Exception
            The case raised an error, or the scheduler was lost.
        """
        wait = WORKER_PERIOD
        while (delivery := _fetched(future, wait)) is None:
            if self.are_gone():
                raise self.error()
            wait *= 2.0  # so that a large result comes through a slow network
        return delivery

    def _has_worker(self) -> bool:
        try:
            return bool(self._client.nthreads())
        except OSError:  # the scheduler is lost
            return True


def _fetched(future: Any, seconds: float) -> Delivery | None:
    """Return the result of a case; None: it did not come in this time."""
    try:
        delivery: Delivery = future.result(timeout=seconds)
    except TimeoutErrors:
        if future.status == "error":  # an error of the case
            raise
        return None
    return delivery


def _wait_for_worker(client: Any, scheduler: str) -> None:
    """Wait until a scheduler has a worker.

    Raises
    ------
    ClusterError
        It has none within `WORKER_LIMIT`, or the scheduler was lost.
    """
    none = f"the scheduler at {scheduler} has no worker"
    try:
        try:
            client.wait_for_workers(1, timeout=WORKER_NOTICE)
        except TimeoutErrors:
            text = f"{none}; waiting up to {WORKER_LIMIT:g} s"
            print(text, file=sys.stderr, flush=True)
            client.wait_for_workers(1, timeout=WORKER_LIMIT - WORKER_NOTICE)
    except TimeoutErrors as error:
        raise ClusterError(f"{none}: none came within {WORKER_LIMIT:g} s") from error
    except OSError as error:
        raise ClusterError(f"the scheduler at {scheduler} was lost: {error}") from error


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


@contextmanager
def _progress(show: bool, count: int) -> Iterator[Callable[[str | None], Progress]]:
    """Yield a function that creates a progress bar for a case (None: for all cases).

    It shows nothing if `show` is false, or if the standard error is not a terminal.
    """
    nothing: Progress = lambda done, total: None  # noqa: E731
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars
    except ImportError:
        show = False
    if not show or not (console := Console(stderr=True)).is_terminal:
        yield lambda name: nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f}%"),
               TimeRemainingColumn())  # fmt: skip
    with Bars(*columns, console=console, transient=True) as bars:
        tasks: dict[str | None, Any] = {}
        if count > 1:
            tasks[None] = bars.add_task("replays", total=count)

        def watch(name: str | None) -> Progress:
            if name is not None and name not in tasks:
                tasks[name] = bars.add_task(name, total=None)

            def update(done: int, total: int) -> None:
                if name in tasks:
                    bars.update(tasks[name], completed=done, total=total)
                    if name is not None and done == total:
                        bars.update(tasks[name], visible=False)

            return update

        yield watch

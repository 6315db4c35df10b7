# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many bags: in processes, and on a Dask cluster; a lost worker loses no result."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from replays import drive
from write_scenarios import CAR, thing, write_all

from gjk_collision.__main__ import main
from gjk_collision.report import many

pytestmark = pytest.mark.timeout(300)
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="dask.distributed is not installed (pip install distributed)",
)


@pytest.fixture(scope="module")
def bags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "bags"
    write_all(folder)
    return folder


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="no /proc on this system"
)


def replayed(bags: Path, out: Path, *options: str) -> dict[str, bytes]:
    code = main(["replay", str(bags), "--out", str(out), "--no-page", "--quiet", *options])
    assert code == 0
    return results(out)


@pytest.fixture(scope="module")
def alone(bags: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return replayed(bags, tmp_path_factory.mktemp("alone"))


def test_folder_of_bags(alone: dict[str, bytes], bags: Path) -> None:
    assert sorted(alone) == sorted(path.name for path in bags.iterdir())


def test_processes_give_the_same_bytes(
    bags: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    assert replayed(bags, tmp_path, "--jobs", "2") == alone
    assert list(outcomes(tmp_path)) == sorted(alone)


def test_a_bad_bag_among_good_ones(bags: Path, tmp_path: Path) -> None:
    (tmp_path / "bags").mkdir()
    for name in ("approach", "graze"):
        (tmp_path / "bags" / name).symlink_to(bags / name)
    (tmp_path / "bags" / "broken.mcap").write_bytes(b"\x89MCAP0\r\n")
    given = ["replay", str(tmp_path / "bags"), "--out", str(tmp_path / "out"), "--no-page"]
    assert main([*given, "--jobs", "2", "--quiet"]) == 3
    expected = {"approach": "not judged", "broken": "broken", "graze": "not judged"}
    assert outcomes(tmp_path / "out") == expected


@pytest.fixture(scope="module")
def drives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six drives, so that four are left when the first of two processes has ended one."""
    folder = tmp_path_factory.mktemp("drives")
    for i in range(6):
        cars = [thing(CAR, 20.0 + i, 0.0)]
        drive(folder / f"drive{i}", lambda road, t, cars=cars: road.obstacles(t, cars), 20.0)
    return folder


@pytest.fixture(scope="module")
def drives_alone(drives: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return replayed(drives, tmp_path_factory.mktemp("drives_alone"))


def command(bags: Path, out: Path, *options: str) -> list[Any]:
    program = [sys.executable, "-m", "gjk_collision", "replay", bags, "--out", out]
    return [*program, "--no-page", "--quiet", *options]


def wait_for_a_report(process: subprocess.Popen[Any], out: Path) -> None:
    """Wait until the first report of several has come: the others are at work."""
    deadline = time.monotonic() + 200.0
    while not list(out.glob("*/summary.json")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    assert len(list(out.glob("*/summary.json"))) < 6, "too late to lose anything"


def results(out: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in out.glob("*/results.jsonl")}


def outcomes(out: Path) -> dict[str, str]:
    merged = json.loads((out / "summary.json").read_text())
    return {each["name"]: each["outcome"] for each in merged["replays"]}


def names_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def workers_of(process: subprocess.Popen[Any]) -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [
        int(child) for child in children
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]  # fmt: skip


@needs_proc
def test_a_killed_process_loses_no_result(
    drives: Path, drives_alone: dict[str, bytes], tmp_path: Path
) -> None:
    process = subprocess.Popen(command(drives, tmp_path, "--jobs", "2"))
    wait_for_a_report(process, tmp_path)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    assert process.wait(200.0) == 0
    assert results(tmp_path) == drives_alone


def interrupted(drives: Path, out: Path, *, stuck: bool) -> list[str]:
    """Press Ctrl-C in a replay of six bags, and again if its processes are stuck.

    Return the outcome of each bag with the number of its files.
    """
    process = subprocess.Popen(
        command(drives, out, "--jobs", "2"),
        start_new_session=True, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_a_report(process, out)
    for worker in workers_of(process) if stuck else ():
        os.kill(worker, signal.SIGSTOP)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all processes
    assert process.stderr is not None
    said = process.stderr.readline()  # when the first signal was handled
    assert "press Ctrl-C again" in said
    if stuck:  # its processes never end: a program that waits for them does not end either
        os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=200.0)[1]
    assert process.returncode == 130
    assert "Traceback" not in said
    found = outcomes(out)
    assert list(found) == names_of(drives)
    assert json.loads((out / "summary.json").read_text())["outcome"] == "interrupted"
    return [f"{found[name]} {len(list((out / name).glob('*')))}" for name in found]


@needs_proc
def test_interrupt_ends_all_processes_with_reports_of_the_part_before(
    drives: Path, tmp_path: Path
) -> None:
    found = interrupted(drives, tmp_path, stuck=False)
    assert "not judged 4" in found
    assert "interrupted 4" in found, "the bags at work leave the part before"
    assert "interrupted 0" in found, "the others are not replayed"


@needs_proc
def test_second_interrupt_ends_at_once(drives: Path, tmp_path: Path) -> None:
    assert "interrupted 0" in interrupted(drives, tmp_path, stuck=True)


# ---- Dask


def watcher(address: str) -> Any:
    import distributed

    client: Any = distributed.Client
    return client(address, set_as_default=False)


@contextmanager
def cluster(
    folder: Path, workers: int
) -> Iterator[tuple[str, list[subprocess.Popen[bytes]], subprocess.Popen[bytes]]]:
    """A scheduler and workers, each its own process, as on a cluster."""
    file = folder / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []

    def start(program: str, *options: str) -> None:
        command = [sys.executable, "-m", "distributed.cli." + program, *options]
        # Killed as a group: a worker may have a nanny.
        log = (folder / f"{len(started)}.log").open("wb")
        started.append(subprocess.Popen(command, stderr=log, stdout=log, start_new_session=True))

    try:
        start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
              "--scheduler-file", str(file))  # fmt: skip
        deadline = time.monotonic() + 60.0
        while not file.is_file() or not file.read_text().strip():
            assert time.monotonic() < deadline, "no scheduler"
            assert started[0].poll() is None, (folder / "0.log").read_text()
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        for _ in range(workers):
            start("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                  "--host", "127.0.0.1", "--local-directory", str(folder))  # fmt: skip
        if workers:  # so that no limit of a test includes their start
            with watcher(address) as client:
                client.wait_for_workers(workers, timeout=120.0)
        yield address, started[1:], started[0]
    finally:
        for process in reversed(started):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(30.0)


@needs_dask
def test_cluster_gives_the_same_bytes(bags: Path, alone: dict[str, bytes], tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as (address, *_):
        assert replayed(bags, tmp_path / "out", "--scheduler", address) == alone
    merged = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert merged["outcome"] == "not judged"


@needs_dask
def test_a_lost_worker_loses_no_result(
    drives: Path, drives_alone: dict[str, bytes], tmp_path: Path
) -> None:
    """One of two workers is killed with results held and work in hand."""
    with cluster(tmp_path, 2) as (address, workers, _):
        out = tmp_path / "out"
        process = subprocess.Popen(command(drives, out, "--scheduler", address))
        wait_for_a_report(process, out)
        os.killpg(workers[0].pid, signal.SIGKILL)
        assert process.wait(200.0) == 0
    assert results(out) == drives_alone


@needs_dask
def test_scheduler_without_workers_is_said(
    bags: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(many, "WORKER_NOTICE", 0.5)
    monkeypatch.setattr(many, "WORKER_LIMIT", 1.5)
    with cluster(tmp_path, 0) as (address, *_):
        options = ["--scheduler", address, "--out", str(tmp_path / "out"), "--no-page", "--quiet"]
        assert main(["replay", str(bags), *options]) == 2
    said = capfd.readouterr().err
    assert f"the scheduler at {address} has no worker; waiting up to 1.5 s\n" in said
    assert f"replay: the scheduler at {address} has no worker: none came within 1.5 s" in said
    assert "Traceback" not in said


@needs_dask
def test_all_workers_lost_in_a_run_is_said(
    drives: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The results so far are kept; the other bags are broken, and the command ends.

    The worker dies with the result of a second bag, which was not fetched. Before, the command
    waited for this result forever. The clock of the command stands until then, and is 30 s later
    at each look from then on: that a worker is slow is never taken for its loss.
    """
    out = tmp_path / "out"
    now, step = 100.0, 0.0

    def clock() -> float:
        nonlocal now
        now += step
        return now

    monkeypatch.setattr(many, "monotonic", clock)
    monkeypatch.setattr(many, "WORKER_PERIOD", 0.02)  # also the first wait for a result
    with cluster(tmp_path, 1) as (address, workers, _):
        written = many._write

        def write_and_kill(folder: Path, files: dict[str, bytes]) -> None:
            nonlocal step
            written(folder, files)
            if files:  # the first result has come
                with watcher(address) as client:
                    while sum(map(len, client.has_what().values())) < 2:
                        time.sleep(0.02)
                os.killpg(workers[0].pid, signal.SIGKILL)
                step = 30.0

        monkeypatch.setattr(many, "_write", write_and_kill)
        options = ["--scheduler", address, "--out", str(out), "--no-page", "--quiet"]
        code = main(["replay", str(drives), *options])
    said = capfd.readouterr()
    assert code == 3
    assert f"the scheduler at {address} has no worker; waiting up to 60 s\n" in said.err
    assert f"not replayed: the scheduler at {address} has no worker: none came" in said.out
    assert "Traceback" not in said.err
    found = outcomes(out)
    assert list(found) == names_of(drives)
    assert sorted(found.values()) == [*["broken"] * 5, "not judged"]


class Scheduler:
    """Stands for a client of a scheduler: the number of its workers is set by a test."""

    status = "running"
    workers = 1

    def nthreads(self) -> dict[str, int]:
        return {f"worker{i}": 1 for i in range(self.workers)}


def test_workers_are_gone_from_the_first_look_without_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a run that was busy for a minute would end when a worker has just been lost."""
    now = 100.0
    monkeypatch.setattr(many, "monotonic", lambda: now)
    scheduler = Scheduler()
    workers = many._Workers(scheduler, "tcp://x")
    now += 3600.0
    assert not workers.are_gone()
    scheduler.workers = 0
    now += 3600.0
    assert not workers.are_gone()
    now += many.WORKER_NOTICE - 0.5
    assert not workers.are_gone()
    assert not capsys.readouterr().err
    now += 0.5
    assert not workers.are_gone()
    assert "tcp://x has no worker; waiting up to 60 s" in capsys.readouterr().err
    scheduler.workers = 1  # it comes back, and is lost again
    now += 30.0
    assert not workers.are_gone()
    scheduler.workers = 0
    now += 3600.0
    assert not workers.are_gone()
    now += many.WORKER_LIMIT
    assert workers.are_gone()


@needs_dask
def test_killed_scheduler_is_said(drives: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with cluster(tmp_path, 1) as (address, _, scheduler):
        process = subprocess.Popen(
            command(drives, out, "--scheduler", address),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        wait_for_a_report(process, out)
        os.killpg(scheduler.pid, signal.SIGKILL)
        said, errors = process.communicate(timeout=200.0)
    assert process.returncode == 3
    assert f"not replayed: the scheduler at {address} was lost" in said
    assert "Traceback" not in errors
    assert list(outcomes(out)) == names_of(drives)


@needs_dask
def test_no_scheduler_is_said(bags: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
    done = subprocess.run(
        command(bags, tmp_path, "--scheduler", "tcp://127.0.0.1:1"),
        capture_output=True, text=True, env=environment, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "tcp://127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr

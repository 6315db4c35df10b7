# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Many bags, in processes: one that dies loses no result."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from replays import drive
from write_scenarios import CAR, thing, write_all

from gjk_collision.__main__ import main
from gjk_collision.replay.case import Case
from gjk_collision.report import many
from gjk_collision.report.outcome import Result
from gjk_collision.report.run import run as run_one


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


def test_an_error_in_one_replay_of_several_keeps_the_others(
    bags: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, there is no common summary, and the bags after it are not replayed."""
    (tmp_path / "bags").mkdir()
    for name in ("approach", "graze"):
        (tmp_path / "bags" / name).symlink_to(bags / name)

    def run(case: Case, *more: Any) -> Result:
        if case.name == "approach":
            raise MemoryError
        return run_one(case, *more)

    monkeypatch.setattr(many, "run", run)
    given = ["replay", str(tmp_path / "bags"), "--out", str(tmp_path / "out"), "--no-page"]
    assert main([*given, "--quiet"]) == 3
    assert outcomes(tmp_path / "out") == {"approach": "broken", "graze": "not judged"}


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
    deadline = time.monotonic() + 900.0
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
    assert process.wait(900.0) == 0
    assert results(tmp_path) == drives_alone


@needs_proc
@pytest.mark.parametrize("is_stuck", [False, True])
def test_interrupt_ends_all_processes_and_keeps_finished_reports(
    is_stuck: bool, drives: Path, tmp_path: Path
) -> None:
    """A program that waits for stuck processes does not end either."""
    process = subprocess.Popen(
        command(drives, tmp_path, "--jobs", "2"),
        start_new_session=True, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_a_report(process, tmp_path)
    workers = workers_of(process)
    for worker in workers if is_stuck else ():
        os.kill(worker, signal.SIGSTOP)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all processes
    said = process.communicate(timeout=900.0)[1]
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    found = outcomes(tmp_path)
    assert list(found) == names_of(drives)
    assert json.loads((tmp_path / "summary.json").read_text())["outcome"] == "interrupted"
    for name, outcome in found.items():
        assert outcome in ("not judged", "interrupted")
        if outcome == "not judged":
            assert {each.name for each in (tmp_path / name).iterdir()} == {
                "results.jsonl", "summary.json", "junit.xml"
            }  # fmt: skip
    assert "interrupted" in found.values()
    assert list(tmp_path.glob("*/summary.json")), "a finished report is kept"


def test_a_cluster_gives_the_same_bytes(
    bags: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        address = cluster.scheduler_address
        assert replayed(bags, tmp_path / "out", "--scheduler", address) == alone


def test_no_scheduler_is_said(
    bags: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(many, "CLUSTER_WAIT", 0.2)
    given = ["replay", str(bags), "--out", str(tmp_path), "--scheduler", "tcp://127.0.0.1:1"]
    assert main(given) == 2
    assert "no Dask scheduler with a worker at tcp://127.0.0.1:1" in capsys.readouterr().err

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo: a real node, a played bag and an OMPL planner over DDS, checked with shapely.

Ends with exit code 0 only if a path was found and shapely agrees with every verdict that the
planner used. Needs an environment with ROS 2 and this package: `./dev demo` makes one.
"""

from __future__ import annotations

import argparse
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

import numpy as np
import scenario
from ament_index_python.packages import get_package_prefix
from drive import Drive
from verify import NAMES, Result, verify
from write_bag import write_bag

BEGIN = time.monotonic()
HERE = Path(__file__).resolve().parent
TIMEOUT = 60.0  # s, for everything between start and path
STOP_TIMEOUT = 5.0  # s, for a process to end when asked

SERVER_PARAMETERS = {
    "base_frame": scenario.BASE_FRAME,
    "check_frame": scenario.CHECK_FRAME,
    "time_budget": 0.5,  # s; generous, for slow machines
}


class DemoError(Exception):
    """Why the demo failed."""


class Processes:
    """The demo's processes: each with its own log and its own session, all stopped at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        # A domain of its own, on this machine only: nothing else on the network takes part.
        self.environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(1 + os.getpid() % 100),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
        }

    def start(self, name: str, *command: str | Path) -> None:
        """Start a process."""
        with self.log(name).open("wb") as log:
            self.running[name] = subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environment, start_new_session=True
            )

    def log(self, name: str) -> Path:
        """Return the file of what the process prints."""
        return self.folder / f"{name}.log"

    def wait(self, name: str) -> None:
        """Return when the process `name` has ended well and the others live.

        Raises
        ------
        DemoError
            If it ends otherwise, if another one ends before, or after `TIMEOUT`.
        """
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            for other, process in self.running.items():
                code = process.poll()
                if code == 0 and other == name:
                    return
                if code is not None:
                    early = "" if other == name else " too early"
                    busy = "" if code else "The machine may be too busy: run the demo again.\n"
                    raise DemoError(
                        f"{other} ended{early} (exit code {code}):\n{busy}{self.tail(other)}"
                    )
            time.sleep(0.05)
        raise DemoError(f"{name} took more than {TIMEOUT:.0f} s:\n{self.tail(name)}")

    def tail(self, name: str) -> str:
        """Return the last lines that the process printed, indented."""
        lines = self.log(name).read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  | {line}" for line in lines[-25:])

    def stop(self) -> list[str]:
        """Stop all; return the names of those that had to be killed."""
        living = {name: p for name, p in self.running.items() if p.poll() is None}
        for process in living.values():
            process.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT
        while time.monotonic() < deadline and any(p.poll() is None for p in living.values()):
            time.sleep(0.02)
        killed = [name for name, process in living.items() if process.poll() is None]
        for name in killed:
            os.killpg(living[name].pid, signal.SIGKILL)
            living[name].wait()
        return killed


@contextmanager
def processes(folder: Path) -> Iterator[Processes]:
    """Provide processes that are stopped on every way out, Ctrl-C and SIGTERM included."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("demo: terminated"))
    group = Processes(folder)
    try:
        yield group
    finally:
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, signal.SIG_IGN)  # the second Ctrl-C must not leave any behind
        killed = group.stop()
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, signal.SIG_DFL)
    if killed:
        raise DemoError(f"did not end when asked: {', '.join(killed)}")


def progress(text: str) -> None:
    """Say what happens now, with the time since the start."""
    print(f"{time.monotonic() - BEGIN:6.1f} s  {text}", file=sys.stderr, flush=True)


def run(folder: Path) -> tuple[dict[str, Any], Drive]:
    """Play and plan: return the planner's log and the drive as it was played."""
    bag, shift, log = folder / "bag", folder / "shift", folder / "plan.json"
    for old in (shift, log):
        old.unlink(missing_ok=True)
    progress("the bag is written")
    write_bag(bag)
    parameters = [
        word for name, value in SERVER_PARAMETERS.items() for word in ("-p", f"{name}:={value}")
    ]
    server = Path(get_package_prefix("gjk_collision")) / "lib/gjk_collision/collision_server"
    with processes(folder) as group:
        group.start("collision_server", server, "--ros-args", *parameters)
        group.start("bag_player", sys.executable, HERE / "play_bag.py", bag, shift)
        group.start("planner", sys.executable, HERE / "plan.py", log)
        progress("node, bag and planner run")
        group.wait("planner")
    drive = Drive(bag, int(shift.read_text(encoding="ascii")))
    return json.loads(log.read_text(encoding="ascii")), drive


def table(log: dict[str, Any], result: Result) -> Iterator[str]:
    """Make the lines that sum up the run."""
    answers = log["answers"]
    yield (
        f"{'service':<13}{'queries':>8}{'poses':>8}"
        + "".join(f"{name:>11}" for name in NAMES)
        + f"{'p50':>11}{'p99':>11}{'of it server p50':>20}"
    )
    for service in ("check_poses", "distance"):
        asked = [answer for answer in answers if answer["service"] == service]
        milliseconds = 1e3 * np.array([(a["round_trip"], a["compute_time"]) for a in asked])
        p50, p99 = np.percentile(milliseconds[:, 0], [50, 99])
        yield (
            f"{service:<13}{len(asked):>8}{sum(len(a['poses']) for a in asked):>8}"
            + "".join(f"{result.verdicts[service, name]:>11}" for name in NAMES)
            + f"{p50:>8.2f} ms{p99:>8.2f} ms{np.nanmedian(milliseconds[:, 1]):>17.2f} ms"
        )
    known = [answer for answer in answers if answer["snapshot_id"]]
    for what in ("max_obstacle_age", "footprint_age"):
        ages = 1e3 * np.array([answer[what] for answer in known])
        label = what.removeprefix("max_").replace("_", " ")
        yield f"{label:<17}{np.median(ages):.0f} ms median, {ages.max():.0f} ms greatest"
    ids = {answer["snapshot_id"] for answer in known}
    yield f"{'snapshots':<17}{len(ids)}, from {min(ids)} to {max(ids)}"
    clearance = min(a["distances"][0] for a in answers if a["purpose"] == "clearance")
    watched = sum(a["purpose"] == "path" for a in answers)
    yield (
        f"{'path':<17}{log['length']:.1f} m, found in {log['duration']:.1f} s, asked about "
        f"{watched} times, planned {log['plans']} times; closest {clearance:.3f} m, "
        f"margin {log['margin']:.3f} m"
    )


def main() -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=HERE.parents[1] / ".dev" / "demo", help="folder"
    )
    parser.add_argument("--animation", action="store_true", help="write demo.gif too")
    arguments = parser.parse_args()
    folder = arguments.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        log, drive = run(folder)
        progress("shapely checks the verdicts")
        result = verify(log, drive)
        progress("the picture is drawn")
        # Only now: importing matplotlib takes a second that the others would miss.
        from picture import draw

        pictures = [folder / "demo.png", folder / "demo.svg"]
        draw(log, drive, pictures)
        if arguments.animation:
            from animation import animate

            pictures.append(folder / "demo.gif")
            animate(log, drive, pictures[-1])
    except DemoError as error:
        print(f"demo: FAILED: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 130
    for line in table(log, result):
        print(line)
    compared = sum(result.verdicts.values()) - sum(
        count for (_, name), count in result.verdicts.items() if name == "UNKNOWN"
    )
    if result.disagreements:
        print(f"{'shapely':<17}DISAGREES {len(result.disagreements)} times:")
        for text in result.disagreements[:20]:
            print(f"  {text}")
    else:
        print(
            f"{'shapely':<17}agrees with all {compared} verdicts and {result.distances} "
            "distances, and finds the path free between its poses"
        )
    print(f"{'picture':<17}{', '.join(str(file) for file in pictures)}")
    print(f"{'took':<17}{time.monotonic() - BEGIN:.1f} s")
    return 1 if result.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())

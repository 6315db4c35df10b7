# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line: ``python -m gjk_collision replay | record | info``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m gjk_collision")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_replay, _add_record, _add_info):
        add(commands)
    given = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = given.command
    try:
        return command(given)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("gjk_collision"):
            raise
        text = "pip install gjk_collision[replay]"
        print(f"this needs the Python package '{error.name}': {text}", file=sys.stderr)
        return 2


def _add_replay(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "replay",
        help="answer a recorded drive again, stamp by stamp",
        description="Exit code 0: all well. 1: an expectation, the golden comparison or a reply "
        "failed. 2: wrong call. 3: a bag is missing, truncated, without stamps or without a topic "
        "that is needed. 130: interrupted; the reports are of the part before.",
    )
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="BAG", help="bag, folder, or scenario .yaml")
    add("--out", type=Path, default=Path("replay"), help="folder for the reports (%(default)s)")
    add("--params", type=Path, help="ROS parameter file of the collision server")
    add(
        "--topics",
        action="append",
        default=[],
        metavar="PART=TOPIC",
        help="footprint, obstacles, tf, tf_static or clock; 'none' for no clock or transforms",
    )
    add("--bags", type=Path, help="folder of the bags that scenarios name; default: theirs")
    add("--golden", type=Path, help="results.jsonl to compare with, or a folder of reports")
    add("--jobs", type=int, default=1, help="processes on this machine")
    add("--scheduler", metavar="ADDRESS", help="Dask scheduler, e.g. tcp://10.0.0.1:8786")
    add("--no-page", action="store_true", help="leave out the HTML pages")
    add("--quiet", action="store_true", help="print failures only, and no progress")
    parser.set_defaults(command=_replay)


def _replay(given: argparse.Namespace) -> int:
    from .config import Config
    from .replay.bag import BagError
    from .replay.case import CaseError, read_cases, read_parameters
    from .replay.topics import TopicsError, checked_mapping
    from .report.many import ClusterError, run_all
    from .report.run import Options, Outcome, golden_of, written_by

    try:
        config = Config() if given.params is None else read_parameters(given.params)
        cases = [case for path in given.paths for case in read_cases(path, config, given.bags)]
        told = checked_mapping(dict(each.partition("=")[::2] for each in given.topics))
        names = [case.name for case in cases]
        if twice := {name for name in names if names.count(name) > 1}:
            raise CaseError(f"two cases are called {', '.join(sorted(twice))}")
        if given.golden is not None and given.golden.is_file() and len(cases) > 1:
            raise CaseError("--golden: name a folder for several cases")
        golden = None if given.golden is None else given.golden.resolve()
        own = {written_by(case, given.out).resolve() for case in cases}
        if own & {golden_of(case, golden) for case in cases}:
            raise CaseError("--golden: would be overwritten; choose another --out")
        if given.jobs < 1:
            raise CaseError("--jobs: must be >= 1")
    except BagError as error:
        print(f"replay: {error}", file=sys.stderr)
        return int(Outcome.BROKEN)
    except (CaseError, TopicsError) as error:
        print(f"replay: {error}", file=sys.stderr)
        return 2
    for case in cases:
        case.topics.update(told)
    if not given.no_page:
        import jinja2  # noqa: F401 - missed now, and not after the work
    options = Options(golden, not given.no_page)
    try:
        results = run_all(
            cases, given.out, options, given.jobs, given.scheduler, show=not given.quiet
        )
    except ClusterError as error:
        print(f"replay: {error}", file=sys.stderr)
        return 2
    for result in results:
        if not given.quiet or result.failures:
            print(f"{result.outcome.name.lower():<12}{result.name}")
        for failure in result.failures:
            print(f"{'':<12}{failure}")
    if not given.quiet:
        print(f"reports: {given.out}")
    return int(max(result.outcome for result in results))


def _add_record(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("record", help="write a scene (JSON) as a bag")
    parser.add_argument("scene", type=Path, metavar="SCENE.json")
    parser.add_argument("bag", type=Path, metavar="BAG", help="folder to write; must not exist")
    parser.add_argument("--storage", choices=("mcap", "sqlite3"), default="mcap")
    parser.set_defaults(command=_record)


def _record(given: argparse.Namespace) -> int:
    from .replay.record import SceneError, record

    try:
        count = record(given.scene, given.bag, given.storage)
    except (SceneError, OSError) as error:
        print(f"record: {error}", file=sys.stderr)
        return 1
    print(f"{count} frames -> {given.bag}")
    return 0


def _add_info(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("info", help="versions and extras, or what is in a bag")
    parser.add_argument("bag", nargs="?", type=Path, metavar="BAG")
    parser.set_defaults(command=_info)


def _info(given: argparse.Namespace) -> int:
    if given.bag is None:
        return _info_installation()
    from .replay.bag import Bag, BagError

    try:
        with Bag(given.bag) as bag:
            print(f"{given.bag}: {(bag.end - bag.begin) * 1e-9:.3f} s from {bag.begin} ns")
            for name, kind in sorted(bag.topics.items()):
                print(f"{bag.counts[name]:>9}  {name}  {kind}")
    except BagError as error:
        print(f"info: {error}", file=sys.stderr)
        return 3
    return 0


def _info_installation() -> int:
    from importlib.metadata import PackageNotFoundError, version
    from platform import machine, python_version

    print(f"{'python':<12}{python_version()} on {machine()}")
    for name in ("gjk_collision", "numpy", "rosbags", "pyyaml", "jinja2", "rich", "distributed",
                 "matplotlib", "ompl"):  # fmt: skip
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "not installed"
        print(f"{name:<12}{found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line: ``python -m gjk_collision replay | record | trace | info``."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .replay.case import Case
    from .report.outcome import Result
    from .report.run import Options
    from .server.parameters.config import Config

__all__ = ["main"]

# Exit codes of all commands. 0 means success. `replay` also has 1 and 130, see
# report.outcome.Outcome.
REFUSED = 2  # wrong arguments or invalid input; argparse uses this code too
BROKEN = 3  # a bag cannot be read or replayed
INTERRUPTED = 130  # Ctrl-C
CLOSED = 141  # the reader of the output has ended; the exit code of shells for SIGPIPE

# Packages of the extra "replay" of pyproject.toml. By name, they can be installed beside any kind
# of installation: from a clone, from a wheel, by colcon.
REPLAY = "rosbags mcap pyyaml jinja2"

SCENE_FORMAT = """SCENE.json, in metres, seconds and m/s, with all coordinates in one frame:

  {"frames": [
    {"t": 0.0,
     "ego": {"polygon": [[0, 0], [4, 0], [4, 2], [0, 2]], "velocity": [5, 0]},
     "obstacles": [{"id": 7, "polygon": [[9, 0], [10, 0], [10, 1]], "velocity": [0, 0]}]}
  ]}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gjk_collision",
        epilog="Exit code 0: success. 1: a replay did not pass. 2: wrong arguments or invalid "
        "input. 3: a bag cannot be read or replayed. 130: a replay was interrupted. 141: the "
        "reader of the output has ended.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_replay, _add_record, _add_trace, _add_info):
        add(commands)
    given = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = given.command
    try:
        code = command(given)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:  # before or after the work of a replay, or in another command
        return INTERRUPTED
    except BrokenPipeError:
        # Otherwise the interpreter flushes the output again at its end, and fails.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except ImportError as error:
        name = error.name or ""
        if name == "gjk_collision._core":  # the message names the folder and what to do
            text = str(error)
        elif isinstance(error, ModuleNotFoundError) and not name.startswith("gjk_collision"):
            packages, extra = (REPLAY, "replay") if name != "distributed" else (name, "cluster")
            text = f"this command needs the Python package '{name}': pip install {packages}"
            text += f" (in a clone: pip install '.[{extra}]')"
        else:
            raise
        print(text, file=sys.stderr)
        return REFUSED


class _Version(argparse.Action):
    """Print the version and exit. The metadata is only read if it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *given: object) -> None:
        from . import __version__

        print(f"gjk_collision {__version__}")
        parser.exit()


def _refuse(command: str, why: object, code: int = REFUSED) -> int:
    """Print to the standard error why a command failed, and return the exit code."""
    print(f"{command}: {why}", file=sys.stderr)
    return code


def _add_replay(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "replay",
        help="compute the answers for a recorded bag again, and write reports",
        description="Exit code 0: success. 1: an expectation, the golden comparison or a reply "
        "failed, or the answers with two parameter files differ. 2: wrong arguments or invalid "
        "input, such as a missing golden file. 3: a bag is missing, incomplete or damaged, or has "
        "no stamps, or a required topic is missing. 130: interrupted; the reports cover the part "
        "before.",
    )
    add = parser.add_argument
    help_of_time = "in s after the begin of the bag, as on the page; earlier data is processed too"
    # fmt: off
    add("paths", nargs="+", type=Path, metavar="BAG",
        help="a bag, a folder with bags, or a scenario file (.yaml)")
    add("--out", type=Path, default=Path("replay"),
        help="folder for the reports (default: %(default)s)")
    add("--params", type=Path, action="append", default=[],
        help="ROS parameter file of the collision server. If it is given twice, the answers with "
        "the second file are compared with those with the first one, as by --golden")
    add("--node", default="", help="full name of the server, if the file has several")
    add("--topics", action="append", default=[], metavar="PART=TOPIC",
        help="topic to use for PART: footprint, twist, obstacles, tf, tf_static or clock. Use "
        "'none' for no tf, tf_static or clock, and 'clock=header' for header stamps of another "
        "clock than the log times. PART 'server': TOPIC is the full name of the server")
    add("--bags", type=Path, help="folder with the bags of scenarios (default: their own folder)")
    add("--golden", type=Path, help="results.jsonl to compare with, or a folder of reports")
    add("--nearest", type=int, default=1, metavar="K",
        help="compare the K nearest obstacles with the golden result, not only the nearest one")
    add("--replies-may-differ", action="store_true",
        help="do not fail if a recorded reply FREE has another verdict now (COLLISION that is now "
        "FREE always fails)")
    add("--no-live-parameters", action="store_true",
        help="do not apply the changes of parameters that were recorded (/parameter_events)")
    add("--from", type=float, default=0.0, dest="first", metavar="T",
        help=f"judge only stamps at or after T, {help_of_time}")
    add("--to", type=float, default=inf, dest="last", metavar="T",
        help="judge only stamps at or before T, in s after the begin of the bag")
    add("--jobs", type=int, default=1, help="number of processes (default: %(default)s)")
    add("--scheduler", metavar="ADDRESS",
        help="address of a Dask scheduler, which replaces --jobs; example: tcp://10.0.0.1:8786")
    add("--mcap", type=Path, metavar="FILE",
        help="write the answers of one bag and their markers to an .mcap file too, for Foxglove "
        "and 'ros2 bag play'; the file must not exist")
    add("--no-page", action="store_true", help="do not write HTML pages")
    add("--quiet", action="store_true", help="print only failures, and show no progress")
    # fmt: on
    parser.set_defaults(command=_replay)


# Folder in --out for the results with the first of two parameter files.
FIRST = "first"


def _replay(given: argparse.Namespace) -> int:
    from .replay.bag import BagError
    from .replay.case import CaseError, read_parameters
    from .replay.span import Span
    from .report.many import ClusterError, run_all
    from .report.outcome import Outcome
    from .report.run import Options
    from .server.parameters.config import Config

    golden = None if given.golden is None else given.golden.resolve()
    try:
        span = Span(given.first, given.last)
        options = Options(golden, not given.no_page, span=span, mcap=given.mcap)
        configs = [read_parameters(each, given.node) for each in given.params] or [Config()]
        each_cases = _cases_to_replay(given, configs, options)
    except BagError as error:
        return _refuse("replay", error, BROKEN)
    except CaseError as error:
        return _refuse("replay", error)
    if not given.no_page:
        import jinja2  # noqa: F401 - fail before the replay if it is missing
    run = partial(run_all, jobs=given.jobs, scheduler=given.scheduler, show=not given.quiet)
    worst = Outcome.PASSED
    try:
        if len(configs) == 2:
            # The expectations of a scenario are those of the second file.
            without = [replace(case, expect=()) for case in each_cases[0]]
            first = run(without, given.out / FIRST, Options(page=False, span=span))
            worst = max(result.outcome for result in first)
            if worst > Outcome.PASSED:
                print(f"with {given.params[0]}:")
                _print_results(first, quiet=given.quiet)
            if worst > Outcome.FAILED:
                return int(worst)
            compared = tuple(each.name for each in given.params)
            if compared[0] == compared[1]:
                compared = tuple(map(str, given.params))
            options = replace(options, golden=(given.out / FIRST).resolve(), names=compared)
        results = run(each_cases[-1], given.out, options)
    except (OSError, ClusterError) as error:  # the reports cannot be written
        return _refuse("replay", error)
    _print_results(results, quiet=given.quiet)
    if not given.quiet:
        print(f"reports: {given.out if given.no_page else given.out / 'index.html'}")
    return int(max(worst, *(result.outcome for result in results)))


def _cases_to_replay(
    given: argparse.Namespace, configs: "list[Config]", options: "Options"
) -> "list[list[Case]]":
    """Return the cases with each configuration, after a check of all arguments."""
    from .replay.bag import Bag, BagError
    from .replay.case import CaseError, read_cases
    from .replay.case_fields import Place
    from .replay.topics import checked_mapping
    from .report.answer_file import check_file
    from .report.run import golden_of, written_by

    if len(configs) > 2:
        raise CaseError(f"--params: at most two files can be compared (got {len(configs)})")
    if len(configs) == 2 and given.golden is not None:
        rule = "must be given once with --golden, because one page shows one comparison"
        raise CaseError(f"--params: {rule} (got two files)")
    each_cases = [
        [case for path in given.paths for case in read_cases(path, config, given.bags)]
        for config in configs
    ]
    cases = each_cases[-1]
    named = dict(each.partition("=")[::2] for each in given.topics)
    topics = checked_mapping(named, Place("--topics"))
    names = [case.name for case in cases]
    if twice := {name for name in names if names.count(name) > 1}:
        text = f"two cases have the same name: {', '.join(sorted(twice))}"
        raise CaseError(
            f"{text}; give each its own 'name' in a scenario, or replay them one by one"
        )
    if len(configs) == 2 and FIRST in names:
        rule = f"no case can have the name '{FIRST}', which is the folder of the first results"
        raise CaseError(f"--params: {rule}; give it another name in a scenario")
    if given.golden is not None and given.golden.is_file() and len(cases) > 1:
        rule = f"must be a folder of reports, because there are {len(cases)} cases"
        raise CaseError(f"--golden: {rule} (got the file {given.golden})")
    own = {written_by(case, given.out).resolve() for case in cases}
    if own & {golden_of(case, options.golden) for case in cases}:
        raise CaseError("--golden: this replay would overwrite it; use another --out")
    if given.jobs < 1:
        raise CaseError(f"--jobs: must be >= 1 (got {given.jobs})")
    if options.mcap is not None:
        if len(cases) > 1 or given.scheduler is not None:
            rule = "must be used with one bag or case, and without --scheduler"
            raise CaseError(f"--mcap: {rule} (got {len(cases)} cases)")
        check_file(options.mcap)
    for case in cases:  # before the reports of an earlier replay are replaced
        if not options.span.is_whole:
            with suppress(BagError), Bag(case.bag) as bag:  # the reports say why
                options.span.check(case.name, bag.seconds)
    for case in (each for some in each_cases for each in some):
        case.topics.update(topics)
    return [
        [
            replace(
                case,
                replies_may_differ=case.replies_may_differ or given.replies_may_differ,
                live_parameters=case.live_parameters and not given.no_live_parameters,
                nearest=max(case.nearest, given.nearest),
            )
            for case in some
        ]
        for some in each_cases
    ]


# Number of events in the output of each of several replays.
EVENTS_OF_EACH = 3


def _print_results(results: "Sequence[Result]", *, quiet: bool) -> None:
    from .report.outcome import NOT_JUDGED, outcome_text, total_text
    from .report.texts import EVENTS, causes, event_lines, shared_causes

    shared = shared_causes(results)
    for cause in shared:
        count = sum(cause in causes(result) for result in results)
        print(f"{'why':<12}of {count} replays: {cause}")
    for result in results:
        if quiet and not result.failures:
            continue
        text, summary = outcome_text([result]), result.summary
        print(f"{text:<12}{result.name}: {result.counts}")
        lines = []
        if text == NOT_JUDGED:
            lines.append("nothing was judged: no expectation, golden result or recorded reply")
        lines += [f"why: {cause}" for cause in causes(result) if cause not in shared]
        lines += result.failures
        lines += event_lines(summary, EVENTS if len(results) == 1 else EVENTS_OF_EACH)
        lines += [] if quiet else [f"note: {note}" for note in summary.get("notes", ())]
        for line in lines:
            print(f"{'':<12}{line}")
    if len(results) > 1 and not quiet:
        print(f"{'total':<12}{total_text(results)}")


def _add_record(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "record",
        help="record what a server receives, or convert a scene file (JSON) to a bag",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=SCENE_FORMAT,
    )
    add = parser.add_argument
    # fmt: off
    add("scene", type=Path, nargs="?", metavar="SCENE.json", help="scene file")
    add("bag", type=Path, metavar="BAG", help="folder to write; must not exist")
    add("--storage", choices=("mcap", "sqlite3"), default="mcap",
        help="storage format of the bag (default: %(default)s)")
    add("--live", action="store_true",
        help="record the sources, the footprint, the twist, the transforms, /clock, "
        "/parameter_events and, with record_requests, the requests of a server, until Ctrl+C")
    add("--params", type=Path, help="with --live: ROS parameter file of the server")
    add("--node", default="", help="with --live: full name of the server")
    add("--seconds", type=float, default=inf, help="with --live: time after which it ends")
    # fmt: on
    parser.set_defaults(command=_record)


def _record(given: argparse.Namespace) -> int:
    from .replay.scene_file import SceneError, write_bag

    if given.live == (given.scene is not None):
        return _refuse("record", "needs either SCENE.json or --live")
    if given.live:
        return _record_live(given)
    if given.params is not None or given.node or given.seconds != inf:
        return _refuse("record", "--params, --node and --seconds need --live")
    try:
        count = write_bag(given.scene, given.bag, given.storage)
    except (SceneError, OSError) as error:
        return _refuse("record", error)
    print(f"{count} frames -> {given.bag}")
    return 0


def _record_live(given: argparse.Namespace) -> int:
    from .errors import InputError
    from .replay.case import CaseError, only_server, read_parameters
    from .ros.recorder import record
    from .server.parameters.config import Config
    from .server.parameters.files import NODE_NAME

    if given.bag.exists():
        return _refuse("record", f"{given.bag} exists; choose another folder")
    server, config = given.node or f"/{NODE_NAME}", Config()
    try:
        if given.params is not None:
            server = given.node or only_server(given.params)
            config = read_parameters(given.params, server)
        count = record(given.bag, config, server, given.storage, given.seconds)
    except (CaseError, InputError, OSError) as error:
        return _refuse("record", error)
    print(f"{count} messages -> {given.bag}")
    return 0 if count else _refuse("record", "no message was received")


def _add_trace(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "trace",
        help="print how the verdict on the vehicle and one obstacle was decided",
        description="Instead of a bag, you can give a scenario file (.yaml) with one case.",
    )
    add = parser.add_argument
    add("what", nargs="+", metavar="BAG", help="one bag")
    at = "time after the start of the bag in s: the last stamp at or before it is traced"
    add("--at", type=float, metavar="SECONDS", help=at)
    add("--id", type=int, help="id of the obstacle in the bag (default: the nearest obstacle)")
    add("--params", type=Path, help="ROS parameter file of the collision server")
    add("--node", default="", help="full name of the server, if the file has several")
    add("--bags", type=Path, help="folder with the bags of scenarios (default: their own folder)")
    parser.set_defaults(command=_trace)


def _trace(given: argparse.Namespace) -> int:
    from .replay.bag import BagError
    from .replay.case import read_cases, read_parameters
    from .report.decision import decision, moment
    from .server.frames.poses import FrameError
    from .server.parameters.config import Config

    try:
        if len(given.what) != 1:
            raise ValueError("must be one bag")
        if given.at is None:
            raise ValueError("--at: the time is missing")
        config = Config() if given.params is None else read_parameters(given.params, given.node)
        cases = read_cases(Path(given.what[0]), config, given.bags)
        if len(cases) != 1:
            raise ValueError(f"{given.what[0]}: must be one bag or case (got {len(cases)} cases)")
        found = moment(cases[0], given.at, given.id)
        facts = decision(found.pair)
    except BagError as error:
        return _refuse("trace", error, BROKEN)
    except (ValueError, FrameError, OSError) as error:
        return _refuse("trace", error)
    config, row = found.config, found.row
    print(f"{cases[0].name}, stamp {found.stamp} at {found.time:.9g} s: {row.verdict.name}/"
          f"{row.status.name}, safety margin {config.safety_margin:g} m, frame "
          f"{config.check_frame}")  # fmt: skip
    print(f"a is the vehicle, b is obstacle {found.obstacle_id}")
    for name, text in facts:
        print(f"{name}: {text}")
    return 0


def _add_info(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("info", help="show installed versions, or the topics of a bag")
    parser.add_argument("bag", nargs="?", type=Path, metavar="BAG", help="bag to read")
    parser.set_defaults(command=_info)


def _info(given: argparse.Namespace) -> int:
    if given.bag is None:
        return _info_installation()
    from .replay.bag import Bag, BagError

    try:
        with Bag(given.bag) as bag:
            print(f"{given.bag}: {bag.seconds:.3f} s from {bag.begin} ns")
            for name, kinds in sorted(bag.topics.items()):
                print(f"{bag.counts[name]:>9}  {name}  {', '.join(sorted(kinds))}")
            for note in bag.notes():
                print(f"note: {note}")
    except BagError as error:
        return _refuse("info", error, BROKEN)
    return 0


def _info_installation() -> int:
    from importlib.metadata import PackageNotFoundError, version
    from platform import machine, python_version

    print(f"{'python':<15}{python_version()} on {machine()}")
    for name in ("gjk_collision", "numpy", "rosbags", "mcap", "pyyaml", "jinja2",
                 "matplotlib", "ompl"):  # fmt: skip
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "not installed"
        print(f"{name:<15}{found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

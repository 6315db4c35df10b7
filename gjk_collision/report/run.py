# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay of one case and its reports.

The reports are written to a folder with the name of the case: ``results.jsonl`` (a header and one
row per line; the bytes are the same on every machine), ``summary.json``, ``junit.xml`` and
``index.html``.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from ..errors import InputError
from ..replay.bag import Bag, BagError
from ..replay.case import Case, CaseError
from ..replay.data_change import changes
from ..replay.drive import TRANSFORM, Drive
from ..replay.events import Events
from ..replay.expect import Expectations
from ..replay.golden import Comparison, Golden, GoldenError
from ..replay.origin import origin, why
from ..replay.rows import FORMAT, Row
from ..replay.span import Span
from ..replay.topics import FOOTPRINT, Topics, choose
from ..server.parameters.config import Config
from .answer_file import AnswerFile
from .counts import Counts
from .film import Film
from .outcome import Outcome, Result, outcome_text
from .timeline import Timeline

__all__ = ["Options", "golden_of", "run", "write_summary", "written_by"]

RESULTS = "results.jsonl"
SUMMARY = "summary.json"

KEPT_ERRORS = 5

# The progress is reported once per this number of messages.
STEP = 200

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """Options of a replay.

    Attributes
    ----------
    golden : Path or None
        Earlier result to compare with: a results.jsonl, or a folder with the reports of each case.
        None: no comparison.
    page : bool
        Whether to write the HTML page.
    names : (str, str)
        Names of the golden result and of this one, for the page.
    span : Span
        The part of the recording that is judged. The data before it is processed too.
    mcap : Path or None
        Recording of the answers to write. There must be only one case. None: not written.
    """

    golden: Path | None = None
    page: bool = True
    names: tuple[str, str] = ("golden", "this run")
    span: Span = field(default_factory=Span)
    mcap: Path | None = None


def run(case: Case, out: Path, options: Options, progress: Progress | None = None) -> Result:
    """Replay a case and write its reports into ``out / case.name``.

    Parameters
    ----------
    case : Case
        The case to replay.
    out : Path
        Folder for the reports. It is created if it does not exist.
    options : Options
        Options of the replay.
    progress : callable
        Called with the number of processed messages and the number of all messages.

    Returns
    -------
    Result
        The result. If the bag is not valid, no error is raised; the outcome is BROKEN.
    """
    folder = written_by(case, out).parent
    folder.mkdir(parents=True, exist_ok=True)
    job = _Job(case, options)
    begin = perf_counter()
    with (folder / RESULTS).open("w", encoding="utf-8", newline="\n") as file:
        job.run(file, progress or (lambda done, total: None))
    result = job.result(perf_counter() - begin)
    write_summary(folder, result.summary, [result])
    if options.page:
        from .page import page

        text = page(result.summary, job.timeline.to_dict(), job.film)
        (folder / "index.html").write_text(text, encoding="utf-8")
    return result


class _Job:
    """The state of one run. A valid report can be made from it at any time."""

    def __init__(self, case: Case, options: Options) -> None:
        self._case, self._options, self._span = case, options, options.span
        self._expectations = Expectations(case.expect, case.faults, options.span)
        self._golden_path = golden_of(case, options.golden)
        self._golden: Golden | None = None
        self._counts = Counts()
        self._events = Events()
        self._outcome, self._failures = Outcome.PASSED, list[str]()
        self._times = list[float | None]()  # of the failures
        self._notes = list[str]()
        self._about: dict[str, Any] = {}
        names = (each.name for each in case.config.sources if not each.static)
        self.timeline = Timeline((TRANSFORM, "footprint", "twist_topic", *names))
        self.film: dict[str, Any] = {
            "end": 0.0, "origin": (0, 0), "outlines": [], "lists": [], "sources": [], "frames": []
        }  # fmt: skip

    def run(self, file: TextIO, progress: Progress) -> None:
        """Compute the answers and write each row to `file`."""
        case = self._case
        try:
            with Bag(case.bag) as bag:
                self._span.check(case.name, bag.seconds)
                if self._golden_path is not None:
                    self._golden = Golden(
                        self._golden_path,
                        case.tolerance,
                        lambda time: (time - bag.begin) * 1e-9 in self._span,
                        self._events,
                    )
                topics = choose(bag, case.config, case.topics)
                for fault in case.faults:
                    fault.check_topic(topics.names)
                self._describe(bag, topics)
                header = {"format": FORMAT, **self._about["identity"]}
                file.write(json.dumps(header, separators=(",", ":")) + "\n")
                mcap = self._options.mcap
                with nullcontext() if mcap is None else closing(AnswerFile(mcap)) as export:
                    self._answer(bag, topics, file, export, progress)
        except BagError as error:
            self._fail(Outcome.BROKEN, str(error))
        except (CaseError, InputError) as error:  # a parameter is not valid
            self._fail(Outcome.REFUSED, str(error))
        except GoldenError as error:
            self._fail(Outcome.REFUSED, f"--golden: {error}")
        except KeyboardInterrupt:
            text = "interrupted: the reports cover the part before the interruption"
            self._fail(Outcome.INTERRUPTED, text)

    def result(self, seconds: float) -> Result:
        """Check the expectations and the golden result, and return the result."""
        complete = self._outcome is Outcome.PASSED
        checks = self._expectations.results()
        if self._golden is not None and complete:
            self._golden.finish()
            for text, at in self._golden.failures:
                self._fail(Outcome.FAILED, f"golden: {text}", at)
            for t in self._golden.missing:
                self.timeline.mark(t, "missing stamp")
        if complete:
            if not (self._counts.data_stamps if self._span.is_whole else self._counts.stamps):
                where = "no obstacles received" if self._span.is_whole else str(self._span)
                self._fail(Outcome.BROKEN, f"no stamp was evaluated: {where}")
            for check in checks:
                if check["failure"]:
                    check["failure"] += self._cause(check["at"])
                    self._fail(Outcome.FAILED, check["failure"], check["at"])
        self._check_counts()
        is_judged = bool(checks or self._golden or self._counts.replies_compared)
        result = Result(self._case.name, self._outcome, self._failures, is_judged=is_judged)
        result.summary = {
            "name": self._case.name,
            "outcome": outcome_text([result]),
            "failures": self._failures,
            "failure_times": self._times,
            "notes": self._notes,
            **self._about,
            **self._counts.to_dict(),
            "expectations": checks,
            "events": self._events.to_dict(),
            "golden": self._golden_summary(),
            "timing": {"replay_seconds": round(seconds, 3)},
        }
        return result

    def _cause(self, at: float | None) -> str:
        """Return what caused the answer at a time, to add to a text; empty: it is not known."""
        told = () if at is None else self._events.to_dict()["kept"]
        found = [each["cause"] for each in told if each["from"] - 1e-6 <= at <= each["to"] + 1e-6]
        return "".join(f"; {each}" for each in found[:1] if each)

    def _golden_summary(self) -> dict[str, Any] | None:
        """Return the comparison with the golden result, and the parameters that differ."""
        if self._golden is None:
            return None
        old, new = _beside(self._golden_path, "parameters"), _parameters(self._case.config)
        differing = None
        if isinstance(old, dict):
            names = [name for name in sorted(old | new) if old.get(name) != new.get(name)]
            differing = [[name, old.get(name), new.get(name)] for name in names]
        causes = why(
            _beside(self._golden_path, "origin"),
            self._about.get("origin"),
            differing,
            self._explained,
        )
        if self._golden.failures and not causes:
            causes = ["no difference in parameters, faults, recording or version: the code"]
        return {
            **self._golden.to_dict(),
            "names": list(self._options.names),
            "parameters": differing,
            "why": causes,
        }

    def _explained(self, golden: Path, topic: str, begin: float) -> str:
        """Return how a topic differs from that of the golden bag, from a time on [s]."""
        case = self._case
        with suppress(Exception), Bag(golden) as old, Bag(case.bag) as new:
            topics = choose(new, case.config, case.topics)
            time = min(old.begin, new.begin) + round(begin * 1e9)
            return changes(old, new, topic, time, topics, case.config)
        return ""  # the golden bag was deleted or moved

    def _describe(self, bag: Bag, topics: Topics) -> None:
        """Store the data that identifies a result, and the data about the bag."""
        config = self._case.config
        self._about = {
            "identity": {
                "name": self._case.name,
                "begin": bag.begin,
                "config_hash": config.hash,
                "check_frame": config.check_frame,
                "topics": asdict(topics),
                "faults": len(self._case.faults),
                **({} if self._span.is_whole else {"judged": self._judged(bag)}),
            },
            "bag": str(bag.path),
            "seconds": round(bag.seconds, 3),
            "safety_margin": config.safety_margin,
            "parameters": _parameters(config),
        }
        self._notes += bag.notes()
        if topics.footprint not in ("", FOOTPRINT, self._case.topics.get("footprint")):
            text = "is used as the footprint: no other topic has its type (see --params, --topics)"
            self._notes.append(f"{topics.footprint} {text}")
        if unused := topics.unused(bag):
            self._notes.append(f"topics with obstacles that no source uses: {unused}")
        self._notes += [
            f"{name} ({', '.join(sorted(bag.topics[name]))}): {bag.counts[name]} service "
            "events are not read: replay cannot answer requests of this service again"
            for name in topics.unread_events
        ]
        if not self._span.is_whole:
            first, last = self._judged(bag)
            self._notes += [
                f"only stamps from {first:.9g} s to {last:.9g} s are judged",
                *(
                    f"not tested, because it is outside: {text}"
                    for text in self._expectations.left_out
                ),
            ]

    def _judged(self, bag: Bag) -> list[float]:
        """Return the begin and the end of the part that is judged [s]."""
        return [self._span.begin, min(self._span.end, bag.seconds)]

    def _answer(
        self,
        bag: Bag,
        topics: Topics,
        file: TextIO,
        export: AnswerFile | None,
        progress: Progress,
    ) -> None:
        case = self._case
        live, count = case.live_parameters, case.nearest
        drive = Drive(bag, case.config, topics, case.faults, live_parameters=live, nearest=count)
        self._events.explain = drive.explain
        film = Film(drive)
        total = sum(bag.counts[name] for name in topics.names)
        reported, is_read = 0, False
        row: Row | None = None
        try:
            for row in drive.rows():
                t = (row.time - bag.begin) * 1e-9
                if self._span.is_after(t):
                    break
                if t in self._span:
                    file.write(row.to_json() + "\n")
                    change = self._add_row(t, row, drive, film)
                    if export is not None:
                        export.add(row, drive, change)
                if drive.processed - reported >= STEP:
                    reported = drive.processed
                    progress(reported, total)
            else:
                is_read = True
                if row is not None and self._golden is None:
                    drive.causes.finish((drive.steady() - bag.begin) * 1e-9)
                    self._events.add_causes(t, row, drive.causes.fresh)
            progress(total, total)
        finally:
            end = inf if is_read else (drive.steady() - bag.begin) * 1e-9
            self._about["origin"] = origin(bag, drive.recording, self._case.faults, end)
            self._about["messages"] = drive.processed
            self._about["unreadable"] = drive.unreadable, drive.undefined
            self._about["errors"] = drive.errors[:KEPT_ERRORS]
            self._notes += drive.notes()
            self.film = film.to_dict()

    def _add_row(self, t: float, row: Row, drive: Drive, film: Film) -> Comparison | None:
        """Use an answer for all reports; return its comparison with the golden result."""
        self._counts.add(t, row)
        change = None if self._golden is None else self._golden.add(t, row)
        if change is None:
            self._events.add(t, row)
        if row.is_state:
            self._expectations.add(t, row)
            reports = drive.reports()
            drive.causes.wait(t, reports)
            if change is None:
                self._events.add_causes(t, row, drive.causes.fresh)
            drive.causes.fresh.clear()
            if self._options.page:
                self.timeline.add(t, row, [*reports, drive.transform()], change)
                film.add(t, row, change)
        else:
            self.timeline.add_request(t, row)
            if change is not None and change.label:
                self.timeline.mark(t, change.label)
        return change

    def _check_counts(self) -> None:
        counts = self._counts
        if counts.free_without_success:
            text = f"FREE without SUCCESS at {counts.free_without_success} stamps"
            self._fail(Outcome.FAILED, text)
        for (old, new), (count, first) in sorted(counts.replies_changed.items()):
            replies = "reply" if count == 1 else "replies"
            text = f"{count:.0f} {replies} {old} -> {new}, first at {first:.3f} s"
            text += self._cause(first)
            was_free = old == "FREE" and not self._case.replies_may_differ
            if was_free or (old, new) == ("COLLISION", "FREE"):
                self._fail(Outcome.FAILED, text, first)
            else:
                self._notes.append(text)
        for error in self._about.get("errors", []):
            self._fail(Outcome.FAILED, f"an answer could not be computed: {error}")
        case, (unreadable, why) = self._case, self._about.get("unreadable", (0, ""))
        if unreadable and not case.faults:
            text = f"{unreadable} messages could not be decoded{f': {why}' if why else ''}"
            self._fail(Outcome.BROKEN, f"{case.bag.name}: {text}")

    def _fail(self, outcome: Outcome, text: str, at: float | None = None) -> None:
        self._outcome = max(self._outcome, outcome)
        self._failures.append(text)
        self._times.append(at)


def write_summary(folder: Path, summary: dict[str, Any], results: Sequence[Result]) -> None:
    """Write the summary of one or many cases as JSON and as JUnit XML."""
    from . import texts  # imported after the replay, because the import takes time

    (folder / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    (folder / "junit.xml").write_text(texts.junit(results), encoding="utf-8")


def written_by(case: Case, out: Path) -> Path:
    """Return the path of the result file that a case writes."""
    return out / case.name / RESULTS


def golden_of(case: Case, golden: Path | None) -> Path | None:
    """Return the path of the earlier result that a case is compared with; None: no comparison."""
    if golden is None or golden.is_file():
        return golden
    return golden / case.name / RESULTS


def _parameters(config: Config) -> dict[str, Any]:
    """Return the parameters of the server as in summary.json, where a tuple is a list."""
    parameters: dict[str, Any] = json.loads(json.dumps(config.parameters()))
    return parameters


def _beside(golden: Path | None, key: str) -> Any:
    """Return a value of the summary in the folder of a golden result; None: not found."""
    if golden is None:
        return None
    try:
        return json.loads((golden.parent / SUMMARY).read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None

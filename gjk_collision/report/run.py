# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""One case from bag to reports.

``results.jsonl`` (a header, then a row per line; the same bytes wherever it is made),
``summary.json``, ``summary.md``, ``junit.xml`` and ``index.html``, in a folder of the case's name.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from ..errors import InputError
from ..replay.bag import Bag, BagError
from ..replay.case import Case
from ..replay.drive import Drive
from ..replay.expect import Expectations
from ..replay.golden import Golden, GoldenError
from ..replay.rows import FORMAT, Row
from ..replay.topics import Topics, choose
from .counts import Counts, Latencies
from .film import Film, Timeline
from .outcome import Outcome, Result

__all__ = ["Options", "golden_of", "run", "written_by"]

RESULTS = "results.jsonl"
SUMMARY = "summary.json"

KEPT_ERRORS = 5

# Messages between two signs of progress.
STEP = 200

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """What to compare with and what to write.

    Attributes
    ----------
    golden : Path or None
        Earlier result: a results.jsonl, or a folder that holds one for each case.
    page : bool
        Write the page.
    """

    golden: Path | None = None
    page: bool = True


def run(case: Case, out: Path, options: Options, progress: Progress | None = None) -> Result:
    """Replay a case and write its reports into ``out / case.name``.

    Parameters
    ----------
    case : Case
        What to replay.
    out : Path
        Folder; made where it is not there.
    options : Options
        See there.
    progress : callable
        Called with messages done and messages in all.

    Returns
    -------
    Result
        Nothing about the bag is raised: it is an outcome.
    """
    folder = written_by(case, out).parent
    folder.mkdir(parents=True, exist_ok=True)
    job = _Job(case, options)
    begin = perf_counter()
    with (folder / RESULTS).open("w", encoding="utf-8", newline="\n") as file:
        job.run(file, progress or (lambda done, total: None))
    result = job.result(perf_counter() - begin)
    from . import texts  # here, so that counting does not wait for templates

    (folder / SUMMARY).write_text(json.dumps(result.summary, indent=1) + "\n", encoding="utf-8")
    (folder / "summary.md").write_text(texts.markdown([result]), encoding="utf-8")
    (folder / "junit.xml").write_text(texts.junit([result]), encoding="utf-8")
    if options.page:
        from .page import page

        text = page(result.summary, job.timeline.to_list(), job.film)
        (folder / "index.html").write_text(text, encoding="utf-8")
    return result


class _Job:
    """The state of one run; what is known of it at any time makes a valid report."""

    def __init__(self, case: Case, options: Options) -> None:
        self._case = case
        self._expectations = Expectations(case.expect, case.faults)
        self._golden_path = golden_of(case, options.golden)
        self._golden: Golden | None = None
        self._counts, self._latencies = Counts(), Latencies()
        self._outcome, self._failures = Outcome.PASSED, list[str]()
        self._notes = list[str]()
        self._about: dict[str, Any] = {}
        self.timeline = Timeline()
        self.film: dict[str, Any] = {"stride": 1, "origin": (0, 0), "outlines": [], "frames": []}

    def run(self, file: TextIO, progress: Progress) -> None:
        """Answer every stamp, writing each row."""
        case = self._case
        try:
            if self._golden_path is not None:
                self._golden = Golden(self._golden_path, case.tolerance)
            with Bag(case.bag) as bag:
                topics = choose(bag, case.config, case.topics)
                self._know(bag, topics)
                header = {"format": FORMAT, **self._about["identity"]}
                file.write(json.dumps(header, separators=(",", ":")) + "\n")
                self._answer(bag, topics, file, progress)
        except (BagError, InputError) as error:
            self._fail(Outcome.BROKEN, str(error))
        except GoldenError as error:
            self._fail(Outcome.FAILED, str(error))
        except KeyboardInterrupt:
            self._fail(Outcome.INTERRUPTED, "interrupted: what follows is of the part before")

    def result(self, seconds: float) -> Result:
        """Judge what there is."""
        complete = self._outcome is Outcome.PASSED
        checks = self._expectations.results()
        if self._golden is not None and complete:
            self._golden.finish()
            for text in self._golden.failures:
                self._fail(Outcome.FAILED, f"golden: {text}")
        if complete:
            if not self._counts.data_stamps:
                self._fail(Outcome.BROKEN, "no stamp was evaluated: obstacles never came")
            for text, failure in checks:
                if failure:
                    self._fail(Outcome.FAILED, failure or text)
        self._judge_counts()
        summary = {
            "name": self._case.name,
            "outcome": self._outcome.name.lower(),
            "failures": self._failures,
            "notes": self._notes,
            **self._about,
            **self._counts.to_dict(),
            "expectations": [{"text": text, "failure": failure} for text, failure in checks],
            "golden": self._golden.to_dict() if self._golden is not None else None,
            "timing": {
                "replay_seconds": round(seconds, 3),
                "latency_us": self._latencies.to_dict(),
                "golden_latency_us": _latency_beside(self._golden_path),
            },
        }
        return Result(self._case.name, self._outcome, self._failures, summary)

    def _know(self, bag: Bag, topics: Topics) -> None:
        """Note what makes one result comparable with another, and what is about the bag alone."""
        config = self._case.config
        self._about = {
            "identity": {
                "name": self._case.name,
                "begin": bag.begin,
                "config_hash": config.hash,
                "check_frame": config.check_frame,
                "topics": {
                    "footprint": topics.footprint,
                    "obstacles": {
                        topic: ", ".join(names) for topic, names in topics.obstacles.items()
                    },
                    "tf": list(topics.tf),
                    "tf_static": list(topics.tf_static),
                    "clock": topics.clock,
                    "services": dict(topics.services),
                },
                "faults": len(self._case.faults),
            },
            "bag": str(bag.path),
            "seconds": round((bag.end - bag.begin) * 1e-9, 3),
            "safety_margin": config.safety_margin,
        }
        self._notes = [
            f"{name} ({', '.join(sorted(bag.topics[name]))}): {bag.counts[name]} service "
            "events are not read: this version does not answer such requests again"
            for name in topics.unread_events
        ]

    def _answer(self, bag: Bag, topics: Topics, file: TextIO, progress: Progress) -> None:
        drive = Drive(bag, self._case.config, topics, self._case.faults)
        film = Film(drive)
        total = sum(bag.counts[name] for name in topics.names)
        told = 0
        try:
            for row in drive.rows():
                file.write(row.to_json() + "\n")
                self._see((row.time - bag.begin) * 1e-9, row, drive, film)
                if drive.taken - told >= STEP:
                    told = drive.taken
                    progress(told, total)
            progress(total, total)
        finally:
            self._about["messages"] = drive.taken
            self._about["unreadable"] = drive.unreadable
            self._about["errors"] = drive.errors[:KEPT_ERRORS]
            self._about["requests_without_content"] = drive.requests_without_content
            self._notes += drive.notes()
            self.film = film.to_dict()

    def _see(self, t: float, row: Row, drive: Drive, film: Film) -> None:
        self._counts.see(t, row)
        if self._golden is not None:
            self._golden.see(t, row)
        if row.is_state:
            self._latencies.add(drive.latency)
            self._expectations.see(t, row)
            self.timeline.see(t, row)
            film.see(t, row)

    def _judge_counts(self) -> None:
        counts = self._counts
        if counts.lies:
            self._fail(Outcome.FAILED, f"FREE without SUCCESS at {counts.lies} stamps")
        if counts.replies_lost:
            first = counts.replies_lost[0]
            text = f"a recorded COLLISION is FREE now, first at {first:.3f} s"
            self._fail(Outcome.FAILED, f"replies: {text}")
        for error in self._about.get("errors", []):
            self._fail(Outcome.FAILED, f"no answer, but an error: {error}")
        case, unreadable = self._case, self._about.get("unreadable", 0)
        if unreadable and not case.faults:
            text = f"{unreadable} messages could not be decoded"
            self._fail(Outcome.BROKEN, f"{case.bag.name}: {text}")

    def _fail(self, outcome: Outcome, text: str) -> None:
        self._outcome = max(self._outcome, outcome)
        self._failures.append(text)


def written_by(case: Case, out: Path) -> Path:
    """Return where the result of a case is written."""
    return out / case.name / RESULTS


def golden_of(case: Case, golden: Path | None) -> Path | None:
    """Return the earlier result that a case is compared with."""
    if golden is None or golden.is_file():
        return golden
    return golden / case.name / RESULTS


def _latency_beside(golden: Path | None) -> dict[str, Any] | None:
    """Return the latencies of the summary that lies beside a golden result."""
    if golden is None:
        return None
    try:
        summary = json.loads((golden.parent / SUMMARY).read_text(encoding="utf-8"))
        found: dict[str, Any] = summary["timing"]["latency_us"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found

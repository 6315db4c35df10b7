# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Results as text: events for people, JUnit XML for build servers."""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .outcome import NOT_JUDGED, Outcome, Result, outcome_text

__all__ = ["EVENTS", "causes", "event_lines", "event_time", "junit", "shared_causes"]


# Number of events in a text about one replay.
EVENTS = 10


def event_lines(summary: dict[str, Any], limit: int = EVENTS) -> list[str]:
    """Return a line for each of the most severe events, in the order of time."""
    events = summary.get("events", {"count": 0, "kept": []})
    lines = [
        ": ".join(filter(None, (event_time(each), each["what"], each["why"])))
        for each in events["kept"]
        if each["rank"] < limit
    ]
    more = events["count"] - len(lines)
    return lines + [f"and {more} more events"] * (more > 0)


def causes(result: Result) -> list[str]:
    """Return why the answers differ from those of the golden result."""
    found: list[str] = (result.summary.get("golden") or {}).get("why", [])
    return found


def shared_causes(results: Sequence[Result]) -> list[str]:
    """Return what `causes` of several results have in common."""
    counts = Counter(each for result in results for each in causes(result))
    return [each for each, count in counts.items() if count > 1]


def event_time(event: dict[str, Any]) -> str:
    """Return the time of an event, its number of stamps, and how often it came back."""
    if event["stamps"] <= 1 and event["from"] == event["to"]:
        return f"{event['from']:.3f} s"
    times = f", {event['times']} times" if event["times"] > 1 else ""
    stamps = f", {event['stamps']} stamps" if event["stamps"] else ""
    return f"{event['from']:.3f} to {event['to']:.3f} s{stamps}{times}"


def junit(results: Sequence[Result]) -> str:
    """Return a test suite per replay, with a test for the replay and one per expectation."""
    root = ET.Element("testsuites")
    for result in results:
        suite = ET.SubElement(root, "testsuite", name=_printable(result.name))
        checks = result.summary.get("expectations", [])
        failed = {check["failure"] for check in checks if check["failure"]}
        own = [text for text in result.failures if text not in failed]
        _case(suite, result, "replay", own, result.outcome is Outcome.BROKEN)
        if outcome_text([result]) == NOT_JUDGED:
            ET.SubElement(suite[0], "skipped", message=f"{NOT_JUDGED}: {result.counts}")
        more = [f"why: {cause}" for cause in causes(result)] + result.summary.get("notes", [])
        if more:
            ET.SubElement(suite[0], "system-out").text = _printable("\n".join(more))
        names = Counter[str]()
        for check in checks:
            names[check["text"]] += 1
            number = names[check["text"]]
            name = check["text"] + (f" ({number})" if number > 1 else "")
            complete = result.outcome in (Outcome.PASSED, Outcome.FAILED)
            untested = "" if complete else "not tested: the replay is not complete"
            why = check["failure"] or untested
            _case(suite, result, name, [why] if why else [], False)
        for kind in ("failure", "error"):
            count = sum(len(case.findall(kind)) for case in suite)
            suite.set(f"{kind}s", str(count))
        suite.set("tests", str(len(suite)))
        suite.set("time", str(result.summary.get("timing", {}).get("replay_seconds", 0)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: Any, result: Result, name: str, failures: list[str], is_error: bool) -> None:
    about = {"classname": _printable(result.name), "name": _printable(name)}
    case = ET.SubElement(suite, "testcase", about)
    if failures:
        kind = "error" if is_error else "failure"
        ET.SubElement(case, kind, message=_printable(failures[0])).text = _printable(
            "\n".join(failures)
        )


def _printable(text: str) -> str:
    """Return text with "?" for each character that XML does not allow."""
    return "".join(c if c in "\t\n" or ord(c) >= 0x20 else "?" for c in text)

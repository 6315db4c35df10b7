# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Print one summary of JUnit files: counts per suite, skipped tests with reasons, failures.

Usage: python summary.py FILE.xml...; exit code 1 where a test failed or none ran.
"""

import ast
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path


def outcome(case: ET.Element) -> tuple[str, str]:
    """Return passed, failed or skipped, and the reason."""
    for tag, word in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        found = case.find(tag)
        if found is not None:
            # GoogleTest's reason stands in the output, below "file:line: Skipped" or "Failure".
            lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines()]
            below = [b for a, b in pairwise(lines) if a.endswith(("Skipped", "Failure"))]
            sanitiser = [line for line in lines if "runtime error:" in line or "ERROR:" in line]
            message = (found.get("message") or "no reason given").splitlines()
            if message == ["collection skipped"]:  # a whole file; the text is (file, line, reason)
                message = [ast.literal_eval(found.text or "")[2].removeprefix("Skipped: ")]
            reason = (sanitiser or below or message)[0][:160]
            return word, reason
    return "passed", ""


def main(files: list[str]) -> int:
    """Print the summary of the files; return the exit code."""
    totals: Counter[str] = Counter()
    notes: dict[str, dict[tuple[str, str], list[str]]] = {"skipped": {}, "failed": {}}
    print(f"\n{'suite':<20}{'passed':>8}{'failed':>8}{'skipped':>8}{'time':>10}")
    for file in files:
        suite = Path(file).stem
        counts: Counter[str] = Counter()
        seconds = 0.0
        reasons: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
        for case in ET.parse(file).iter("testcase"):
            word, reason = outcome(case)
            counts[word] += 1
            seconds += float(case.get("time", 0))
            if word != "passed":
                name = case.get("name", "").split("[")[0]
                where = "::".join(filter(None, (case.get("classname"), name)))
                reasons[word, where, reason].append(name)
        for (word, name, reason), cases in reasons.items():
            notes[word].setdefault((name, reason), []).extend([suite] * len(cases))
        totals += counts
        row = "".join(f"{counts[word]:>8}" for word in ("passed", "failed", "skipped"))
        print(f"{suite:<20}{row}{seconds:>8.1f} s")

    for word, found in notes.items():
        if found:
            print(f"\n{word}:")
        for (name, reason), suites in found.items():
            where = ", ".join(f"{s} x{n}" if n > 1 else s for s, n in Counter(suites).items())
            print(f"  {name} ({where}): {reason}")
    print(f"\n{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped")
    return 1 if totals["failed"] or not totals["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

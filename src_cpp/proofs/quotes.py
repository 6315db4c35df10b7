# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Compare the scripts of proofs with the code that they quote.

Usage: python quotes.py [KERNEL SCRIPTS]; exit code 1, with a line per finding, where they differ.

A script (*.gappa, *.sollya, *.v) quotes code below a comment "Code (FILE):": lines that need not
be neighbours, or in Coq contiguous code. A definition with a comment "# = EXPRESSION" is a
constant of that code: the expression stands in a quote, and it has the value of the definition.
"""

import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
KERNEL = SCRIPTS.parent / "include/gjk"

QUOTES = re.compile(r"^(?:#|//|\(\*) Code \((\S+)\):\n((?:(?:#|//|  )   .*\n)+)", re.MULTILINE)
DEFINITION = re.compile(r"^(\w+) = (.+);  # = (.+)$", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^#if 0\b.*?^#endif", re.MULTILINE | re.DOTALL)
# A number, as in C++ or as in Gappa: hexadecimal, or M * 2^E as MbE, or decimal.
NUMBER = re.compile(r"0x[\da-f.]+p[+-]?\d+|\d+b-?\d+|\d+(?:\.\d*)?(?:e-?\d+)?|\w+")
KINDS = {".gappa", ".sollya", ".v"}
NAME = re.compile(r"[\w.]+\.(?:gappa|sollya)\b|(?<=Proof: )\w+\.v\b")
ARGUMENT = re.compile(r"\b(?:D|rnd)\((-?\d+/\d+)\)")
SERIES = "taylor.sollya", "sine.gappa", "cosine.gappa"
BOUND = re.compile(r"[\d.]+\*kUnitRoundoff")


def value_of(number: str) -> Fraction:
    """Return the value of a number, or of kUnitRoundoff."""
    if number == "kUnitRoundoff":
        return Fraction(1, 2**53)
    if number.startswith("0x"):
        return Fraction(float.fromhex(number))
    mantissa, _, exponent = number.partition("b")
    return Fraction(mantissa) * Fraction(2) ** int(exponent or 0)


def evaluate(expression: str) -> float:
    """Return the double nearest to the value of an expression of C++ or Gappa."""
    plain = expression.replace("rnd", "")  # the result is rounded anyway
    formula = NUMBER.sub(lambda number: f"Fraction('{value_of(number[0])}')", plain)
    return float(eval(formula, {"__builtins__": {}, "Fraction": Fraction}))


@cache  # the tests compare many copies of the kernel that differ in one file
def squeezed(code: str) -> str:
    """Return code without comments, parts that are left out by `#if 0`, and white space."""
    return re.sub(r"\s", "", COMMENT.sub("", code))


def quotes_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each line that a script quotes; in Coq, of each quote."""
    for quote in QUOTES.finditer(text):
        lines = [quote[2]] if quote[0].startswith("(*") else quote[2].splitlines()
        for line in lines:
            yield quote[1], squeezed(line.lstrip("#/"))


def findings_of(text: str, code: dict[str, str]) -> Iterator[str]:
    """Yield where a script and the code differ; `code`: squeezed text by file."""
    quotes = list(quotes_of(text))
    if not quotes:
        yield "quotes no code"
    for file, quote in quotes:
        if quote not in code.get(file, ""):
            yield f"{file} no longer has the code {quote}"
    constants = []
    for name, value, expression in DEFINITION.findall(text):
        constants.append(squeezed(expression))
        if not any(constants[-1] in quote for _, quote in quotes):
            yield f"no quote has {expression}"
        if len(re.findall(rf"\b{name}\b", re.sub(r"#.*", "", text))) < 2:
            yield f"{name} is not used"
        if evaluate(value) != evaluate(expression):
            yield f"{value} is not {expression}"
    for _, quote in quotes:
        for bound in BOUND.findall(quote):
            if not any(bound in constant for constant in constants):
                yield f"{bound} of a quote has no definition"


def findings(kernel: Path, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the scripts in a folder, a line each."""
    scripts = {path.name: path.read_text() for path in folder.glob("*") if path.suffix in KINDS}
    code = {
        path.relative_to(kernel).as_posix(): path.read_text()
        for path in kernel.rglob("*")
        if path.suffix in {".hpp", ".inc"}
    }
    named = {name for text in code.values() for name in NAME.findall(text)}
    for name in sorted(named ^ scripts.keys()):
        yield f"{name}: " + ("there is no such script" if name in named else "no comment names it")
    code = {file: squeezed(text) for file, text in code.items()}
    for name, text in sorted(scripts.items()):
        yield from (f"{name}: {finding}" for finding in findings_of(text, code))
    series = [ARGUMENT.findall(scripts[f"pose.{name}"]) for name in SERIES]
    if sorted(series[0]) != sorted(series[1] + series[2]):
        yield "pose.taylor.sollya has other coefficients than the scripts of sine and cosine"


if __name__ == "__main__":
    found = list(findings(*(map(Path, sys.argv[1:]) if len(sys.argv) > 1 else (KERNEL, SCRIPTS))))
    for each in found:
        print(each)
    sys.exit(1 if found else 0)

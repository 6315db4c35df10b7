# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the documentation, and the comments that say how to test them.

A comment directly before a block is not shown on the page:

- ``<!-- not run: REASON -->``: Python that is only compiled, or C++ that is not compiled.
- ``<!-- file: NAME -->``: the text of the block is written to this file of the page's folder.
- ``<!-- run -->`` or ``<!-- run, exit code N -->``: commands that are run in the page's folder.
- ``<!-- output -->``: the text that the commands of the block before have printed.

A comment ``<!-- given:`` with lines of Python, also directly before a block, holds the names that
the page takes for granted. It is executed before the block.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], key=lambda page: (len(page.parts), page)
)
BLOCK = re.compile(
    r"(?P<comments>(?:^<!--(?:(?!-->).)*?-->\n+)*)"
    r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    kind: str
    text: str
    given: str = ""
    not_run: str = ""
    file: str = ""
    exit_code: int | None = None  # None: not run
    output: bool = False

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in their order. Directives, such as toctree, are no blocks."""
    text, found = page.read_text(), []
    for match in BLOCK.finditer(text):
        if match["kind"].startswith("{"):
            continue
        options: dict[str, str | int | bool] = {}
        for comment in re.findall(r"<!--(.*?)-->", match["comments"], re.DOTALL):
            name, colon, value = comment.strip().partition(":")
            if name in ("not run", "given", "file") and colon:
                options[name.replace(" ", "_")] = value.strip("\n ") if name != "given" else value
            elif comment.strip() == "output":
                options["output"] = True
            elif run := re.fullmatch(r"run(?:, exit code (\d+))?", comment.strip()):
                options["exit_code"] = int(run[1] or 0)
            else:
                assert name.startswith(("SPDX", "begin", "end")), f"{page.name}: <!--{comment}-->"
        line = text[: match.start("kind")].count("\n") + 1
        found.append(Block(page, line, match["kind"], match["text"], **options))  # type: ignore[arg-type]
    return found


BLOCKS = {page: blocks_of(page) for page in PAGES}


def blocks(*kinds: str) -> list[Block]:
    """Return the blocks of these kinds on all pages."""
    return [each for found in BLOCKS.values() for each in found if each.kind in kinds]


def commands(text: str) -> Iterator[list[str]]:
    """Return the words of each simple command. A substitution is one word."""
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"\$\([^)]*\)", "SUBSTITUTED", text)
    lexer = shlex.shlex(text.replace("\n", " ;\n"), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= set(";&|"):
            if words:
                yield words
            words = []
        elif words or not re.match(r"\w+=", word):  # without variables before the command
            words.append(word)
    if words:
        yield words

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site has all pages, public names, messages and services."""

import re
from pathlib import Path

import gjk_collision

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_every_page_is_in_the_contents() -> None:
    listed = set()
    for contents in re.findall(
        r"```{toctree}(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL
    ):
        listed |= {line for line in contents.split("\n") if line and not line.startswith(":")}
    pages = {str(each.relative_to(DOCS).with_suffix("")) for each in DOCS.rglob("*.md")}
    assert listed == pages - {"index"}


def test_every_public_name_is_described() -> None:
    text = (DOCS / "reference" / "python.md").read_text()
    described = re.findall(r"^\.\. auto\w+:: gjk_collision\.(\w+)$", text, re.MULTILINE)
    packages = {"planning", "plotting"}
    assert set(described) - packages == set(gjk_collision.__all__) - {"__version__"}
    assert len(described) == len(set(described))


def test_every_status_has_a_cause_and_a_remedy() -> None:
    text = (DOCS / "reference" / "statuses.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (\w+) \| ([^|]+) \|([^|]*)\|$", text, re.MULTILINE)
    assert [(int(number), name) for number, name, _, _ in rows] == [
        (status.value, status.name) for status in gjk_collision.Status
    ]
    assert not [name for _, name, _, remedy in rows if not remedy.strip()]


def test_every_command_is_shown() -> None:
    """The site runs each command with --help."""
    text = (DOCS / "reference" / "command_line.md").read_text()
    main = (ROOT / "gjk_collision" / "__main__.py").read_text()
    shown = re.findall(r"{command-help} (\w+)$", text, re.MULTILINE)
    assert shown == re.findall(r"commands\.add_parser\(\s*\"(\w+)\"", main)


def test_every_message_and_service_is_shown() -> None:
    text = (DOCS / "reference" / "messages.md").read_text()
    shown = re.findall(r"{literalinclude} \.\./\.\./(\S+)", text)
    files = [each for kind in ("msg", "srv") for each in sorted((ROOT / kind).iterdir())]
    assert shown == [f"{each.parent.name}/{each.name}" for each in files]

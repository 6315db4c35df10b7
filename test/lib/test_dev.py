# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""`./dev`: its help names its commands, and no other command succeeds."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_help_names_every_command() -> None:
    """A command that the help does not name is not found; a name without a command fails."""
    shown = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True)
    named = set(re.findall(r"^  ([a-z]+)(?= )", shown.stdout, re.MULTILINE))
    files = [ROOT / "dev", *(ROOT / "tools").glob("*.sh")]
    defined = {
        name
        for file in files
        for name in re.findall(r"^command_(\w+)\(\)", file.read_text(), re.MULTILINE)
    }
    assert named == defined


def test_an_unknown_command_fails() -> None:
    """A misspelt command must not look like a success."""
    done = subprocess.run([ROOT / "dev", "tset"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no command 'tset'" in done.stderr

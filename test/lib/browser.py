# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Chromium for the tests of pages, with scripts that act as a reader does."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium on this machine (Debian package chromium)"
)
# The packages of requirements/npm, which ./dev test lib installs.
NPM = Path(os.environ.get("GJK_NPM", "/nonexistent")) / "node_modules"
needs_npm = pytest.mark.skipif(
    not NPM.is_dir(), reason="no packages from npm (run ./dev test lib where npm reaches them)"
)


def browse(path: Path, *options: str, fragment: str = "") -> str:
    """Let the browser run a page; return what has become of it."""
    command = [
        str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--window-size=1400,1150", "--virtual-time-budget=3000",
        f"--user-data-dir={path.parent}/browser", *options, "--dump-dom", path.as_uri() + fragment,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    return done.stdout


def with_script(page: Path, copy: Path, script: str) -> Path:
    """Write a copy of a page that runs a script after its own; return the path of the copy."""
    text = page.read_text(encoding="utf-8")
    script = script.replace("</script", "<\\/script")
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return copy


def pressed(*keys: str, on: str = "") -> str:
    """Return a script that presses keys, such as Shift+ArrowRight, on the element of an id."""
    target = f"document.getElementById({json.dumps(on)})" if on else "document"
    return "".join(
        f"{target}.dispatchEvent(new KeyboardEvent('keydown', {{bubbles: true, "
        f"key: {json.dumps(key.removeprefix('Shift+'))}, "
        f"shiftKey: {str('Shift+' in key).lower()}}}));"
        for key in keys
    )

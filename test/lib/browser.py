# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Chromium for the tests of pages, with scripts that act as a reader does.

One browser serves all pages of a process, because its start takes longer than a page.
"""

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

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


class Browser:
    """Chromium, which takes commands of the DevTools protocol from a pipe; it ends with it."""

    def __init__(self) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        # The profile may still be written to while it is deleted.
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [
            str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--remote-debugging-pipe", "--allow-file-access-from-files",
            f"--user-data-dir={self._profile.name}",
        ]  # fmt: skip
        subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "bash", *command],
            pass_fds=(commands, answers), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._count, self._received = 0, b""

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return the result of a command."""
        self._count += 1
        command = {"id": self._count, "method": method, "params": parameters}
        command |= {"sessionId": session} if session else {}
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        answer = self.wait_for(id=self._count)
        assert "error" not in answer, answer
        return answer["result"]

    def wait_for(self, **fields: Any) -> dict[str, Any]:
        """Return the next message with these fields; those before it are dropped."""
        while True:
            while b"\0" not in self._received:
                more = os.read(self._answers, 1 << 20)
                assert more, "the browser has ended"
                self._received += more
            line, self._received = self._received.split(b"\0", 1)
            message: dict[str, Any] = json.loads(line)
            if fields.items() <= message.items():
                return message


_browser = cache(Browser)


def browse(
    path: Path,
    fragment: str = "",
    *,
    size: tuple[int, int] = (1400, 1150),
    scale: float = 1.0,
    scheme: str = "light",
    milliseconds: int = 3000,
) -> str:
    """Let the browser run a page for a time of its own clock; return what has become of it."""
    browser = _browser()
    context = browser.ask("Target.createBrowserContext")
    target = browser.ask("Target.createTarget", url="about:blank", **context)
    page = browser.ask("Target.attachToTarget", flatten=True, **target)["sessionId"]
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": scale, "mobile": False}
    browser.ask("Emulation.setDeviceMetricsOverride", page, **metrics)
    preferred = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.ask("Emulation.setEmulatedMedia", page, features=preferred)
    browser.ask("Page.enable", page)
    browser.ask("Page.navigate", page, url=path.as_uri() + fragment)
    browser.wait_for(method="Page.loadEventFired", sessionId=page)
    policy = "pauseIfNetworkFetchesPending"
    browser.ask("Emulation.setVirtualTimePolicy", page, policy=policy, budget=milliseconds)
    browser.wait_for(method="Emulation.virtualTimeBudgetExpired", sessionId=page)
    everything = "document.documentElement.outerHTML"
    dom = browser.ask("Runtime.evaluate", page, expression=everything)["result"]["value"]
    browser.ask("Target.disposeBrowserContext", **context)
    return str(dom)


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

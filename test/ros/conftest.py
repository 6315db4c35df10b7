# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Servers of a test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def start() -> Iterator[Callable[..., tuple[Any, Any]]]:
    """Start servers, each with a bench to talk to it; they end with the test."""
    from server import BOX, Bench, Server

    started: list[tuple[Server, Bench]] = []

    def make(name: str, **parameters: Any) -> tuple[Server, Bench]:
        # The time budget is that of a busy machine.
        server = Server(name, **{"footprint": BOX, "time_budget": 1.0, **parameters})
        started.append((server, Bench(name)))
        return started[-1]

    yield make
    for server, bench in started:
        bench.close()
        if server.process.poll() is None:
            server.stop()

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
        # The limits are those of a busy machine.
        sources = parameters.get("obstacle_sources") or ["obstacles"]
        limits = {f"{each}.timeout": 10.0 for each in sources} | {"time_budget": 1.0}
        server = Server(name, **{"footprint": BOX, **limits, **parameters})
        started.append((server, Bench(name)))
        return started[-1]

    yield make
    for server, bench in started:
        bench.close()
        if server.process.poll() is None:
            server.stop()

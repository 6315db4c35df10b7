# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of every suite: tests talk to this machine alone, in a ROS domain of their own, and
one that hangs ends."""

import faulthandler
import os
from collections.abc import Generator

import pytest

# s, of a test that hangs: a busy machine takes ten times as long as an idle one.
LIMIT = float(os.environ.get("GJK_TEST_LIMIT", "600"))
STDERR = pytest.StashKey[int]()

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
# Not through shared memory: a process that is killed may leave it locked, or wrong for others.
os.environ["FASTDDS_BUILTIN_TRANSPORTS"] = "UDPv4"
# 1..100: higher domains reach into Linux's ephemeral ports. Child processes inherit it.
os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(name): the test shows one of docs/safety.md")
    config.stash[STDERR] = os.dup(2)  # that of a test is captured


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the process where a test hangs, with the stacks of all threads. An exception in the test
    would not end a wait in compiled code, nor one at the end of a fixture."""
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=item.config.stash[STDERR])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of every suite: tests talk to this machine alone, in a ROS domain of their own."""

import os

import pytest

os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
# 1..100: higher domains reach into Linux's ephemeral ports. Child processes inherit it.
os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(name): the test shows one of docs/safety.md")

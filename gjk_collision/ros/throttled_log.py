# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Log lines about what other processes send, at a limited rate."""

import time

from rclpy.logging import LoggingSeverity
from rclpy.node import Node

__all__ = ["ThrottledLog"]

# Minimum time between two lines with the same key.
PERIOD = 1.0  # s


class ThrottledLog:
    """Logs at most one line per `PERIOD` for each key.

    A sender can cause such a line with each message. A call of rclpy's logger takes 0.5 ms, also
    if its own throttle prints nothing. Here, a line that is not printed takes less than a
    microsecond.

    Parameters
    ----------
    node : Node
        The node whose log is used.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._printed: dict[str, float] = {}  # key -> steady time of its last line [s]
        self._omitted: dict[str, int] = {}  # key -> number of lines since then

    def error(self, key: str, text: str) -> None:
        """Log an error. The program chooses the key, not the sender."""
        self._log(key, text, LoggingSeverity.ERROR)

    def warning(self, key: str, text: str) -> None:
        """Log a warning, as `error` does."""
        self._log(key, text, LoggingSeverity.WARN)

    def info(self, key: str, text: str) -> None:
        """Log an information, as `error` does."""
        self._log(key, text, LoggingSeverity.INFO)

    def _log(self, key: str, text: str, severity: LoggingSeverity) -> None:
        now = time.monotonic()
        last = self._printed.get(key)
        if last is not None and now - last < PERIOD:
            self._omitted[key] = self._omitted.get(key, 0) + 1
            return
        self._printed[key] = now
        if omitted := self._omitted.pop(key, 0):
            text = f"{text} ({omitted} similar lines were omitted)"
        self._node.get_logger().log(text, severity)

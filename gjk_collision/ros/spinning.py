# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for callbacks in a way that no callback can end."""

from rclpy.executors import Executor, ExternalShutdownException

__all__ = ["spin_once"]


def spin_once(executor: Executor, timeout: float | None = None) -> Exception | None:
    """Process one callback, and return what it raised.

    Parameters
    ----------
    executor : Executor
        The executor of the callbacks.
    timeout : float, optional
        Maximum time to wait for a callback [s]. Default: no limit.

    Raises
    ------
    ExternalShutdownException
        The context was shut down.
    """
    try:
        executor.spin_once(timeout)
    except ExternalShutdownException:
        raise
    except Exception as error:
        return error
    return None

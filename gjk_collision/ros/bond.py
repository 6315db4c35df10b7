# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The bond with the lifecycle manager of nav2, by which the manager notices that a node has died.

The package bondpy is optional. Without it, no bond is made.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from rclpy.node import Node

try:
    from bondpy import bondpy
except ImportError:
    bondpy = None

__all__ = ["ManagerBond"]

TOPIC = "bond"  # relative to the namespace of the node, as in nav2


class ManagerBond:
    """The bond of an active node. bondpy sends its heartbeats from a thread of its own.

    Parameters
    ----------
    node : Node
        The node whose name is the id of the bond.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._bond: Any = None

    def make(self, period: float) -> None:
        """Make the bond, if bondpy is installed. Its heartbeat has this period [s]; 0: no bond."""
        self.release()
        if bondpy is None or period <= 0.0:
            return
        bond = bondpy.Bond(self._node, TOPIC, self._node.get_name())
        bond.set_heartbeat_period(period)
        bond.start()
        self._bond = bond

    def break_off(self) -> None:
        """Tell the manager that the node is no longer active. The manager may confirm it."""
        if self._bond is not None:
            self._bond.break_bond()

    def release(self) -> None:
        """End the bond, with its topic."""
        bond, self._bond = self._bond, None
        if bond is None:
            return
        with suppress(Exception):  # the context may have ended
            bond.shutdown()
        # bondpy destroys both, but the node still lists them.
        self._node.destroy_subscription(bond.sub)
        self._node.destroy_publisher(bond.pub)

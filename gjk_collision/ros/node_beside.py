# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""A node of a mirror beside the node of the planner."""

from rclpy.node import Node
from rclpy.parameter import Parameter

__all__ = ["node_beside"]


def node_beside(node: Node) -> Node:
    """Return a node with the clock and the namespace of another one, without services."""
    values = {
        "use_sim_time": node.get_parameter("use_sim_time").value,
        "start_type_description_service": False,
    }
    name = f"{node.get_name()}_mirror"
    return Node(
        name,
        context=node.context,
        # The command line may name all nodes of the process.
        cli_args=["--ros-args", "-r", f"__node:={name}"],
        namespace=node.get_namespace(),
        parameter_overrides=[Parameter(each, value=value) for each, value in values.items()],
        start_parameter_services=False,
    )

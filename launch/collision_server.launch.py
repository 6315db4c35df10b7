# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch the collision server.

What an argument leaves empty is as the parameter file says, so that no default stands twice.
"""

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("gjk_collision")
DEFAULT_FILE = PathJoinSubstitution([SHARE, "config", "collision_server.yaml"])
RVIZ_FILE = PathJoinSubstitution([SHARE, "config", "collision_server.rviz"])
TRUTH = ["", "true", "false"]


def start(context: LaunchContext) -> list[Node]:
    """Return the node, with the parameters that the arguments set, and RViz if asked for."""
    given = {
        name: value == "true"
        for name in ("use_sim_time", "autostart")
        if (value := LaunchConfiguration(name).perform(context))
    }
    enclave = LaunchConfiguration("enclave").perform(context)
    server = Node(
        package="gjk_collision",
        executable="collision_server",
        name="collision_server",
        namespace=LaunchConfiguration("namespace"),
        parameters=[LaunchConfiguration("params_file"), *([given] if given else [])],
        ros_arguments=[
            "--log-level",
            LaunchConfiguration("log_level"),
            *(["--enclave", enclave] if enclave else []),
        ],
        respawn=LaunchConfiguration("respawn"),
        respawn_delay=1.0,
        output="screen",
    )
    if LaunchConfiguration("rviz").perform(context) != "true":
        return [server]
    clock = {name: value for name, value in given.items() if name == "use_sim_time"}
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        namespace=LaunchConfiguration("namespace"),
        arguments=["-d", RVIZ_FILE],
        parameters=[clock] if clock else [],
    )
    return [server, rviz]


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the node."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "namespace", default_value="", description="Of the node, its topics and services"
            ),
            DeclareLaunchArgument(
                "params_file", default_value=DEFAULT_FILE, description="Parameter file"
            ),
            DeclareLaunchArgument(
                "use_sim_time", default_value="", choices=TRUTH, description="Time from /clock"
            ),
            DeclareLaunchArgument(
                "autostart",
                default_value="",
                choices=TRUTH,
                description="Configure and activate without a lifecycle manager",
            ),
            DeclareLaunchArgument(
                "log_level", default_value="info", description="Log level of the node"
            ),
            DeclareLaunchArgument(
                "respawn",
                default_value="false",
                choices=["true", "false"],
                description="Start the node again when it dies",
            ),
            DeclareLaunchArgument(
                "enclave", default_value="", description="Security enclave of the node (SROS2)"
            ),
            DeclareLaunchArgument(
                "rviz",
                default_value="false",
                choices=["true", "false"],
                description="Show the node's markers in RViz",
            ),
            OpaqueFunction(function=start),
        ]
    )

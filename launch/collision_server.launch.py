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

DEFAULT_FILE = PathJoinSubstitution(
    [FindPackageShare("gjk_collision"), "config", "collision_server.yaml"]
)
TRUTH = ["", "true", "false"]


def start_server(context: LaunchContext) -> list[Node]:
    """Return the node, with the parameters that the arguments set."""
    given = {
        name: value == "true"
        for name in ("use_sim_time", "autostart")
        if (value := LaunchConfiguration(name).perform(context))
    }
    server = Node(
        package="gjk_collision",
        executable="collision_server",
        name="collision_server",
        namespace=LaunchConfiguration("namespace"),
        parameters=[LaunchConfiguration("params_file"), *([given] if given else [])],
        ros_arguments=["--log-level", LaunchConfiguration("log_level")],
        respawn=LaunchConfiguration("respawn"),
        respawn_delay=1.0,
        output="screen",
    )
    return [server]


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
            OpaqueFunction(function=start_server),
        ]
    )

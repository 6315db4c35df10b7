# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch the collision server."""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

ARGUMENTS = (
    ("namespace", "", "Namespace of the node and of its topics and services"),
    (
        "params_file",
        PathJoinSubstitution(
            [FindPackageShare("gjk_collision"), "config", "collision_server.yaml"]
        ),
        "Parameter file",
    ),
    ("use_sim_time", "false", "Take time from /clock"),
    ("autostart", "true", "Configure and activate without a lifecycle manager"),
    ("log_level", "info", "Log level of the node"),
    ("respawn", "true", "Start the node again when it ends by itself"),
)


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the node."""
    server = Node(
        package="gjk_collision",
        executable="collision_server",
        name="collision_server",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {
                name: ParameterValue(LaunchConfiguration(name), value_type=bool)
                for name in ("use_sim_time", "autostart")
            },
        ],
        arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
        respawn=LaunchConfiguration("respawn"),
        respawn_delay=1.0,
        output="screen",
        emulate_tty=True,
    )
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, default, text in ARGUMENTS
    ]
    return LaunchDescription([*declared, server])

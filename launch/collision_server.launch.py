# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch the collision server.

An argument that is not given sets no parameter, and no parameter file is passed by default. A
default would replace the values of `SetParameter` around this file. The node has the defaults.
"""

from pathlib import Path

from ament_index_python import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

SHARE = FindPackageShare("gjk_collision")
RVIZ_FILE = PathJoinSubstitution([SHARE, "config", "collision_server.rviz"])
TRUTH = ["true", "false", "True", "False"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]


def check(params_file: str, log_level: str, rviz: bool) -> None:
    """Raise an error for a bad argument before any node is started.

    Without this check, launch only warns about a missing file, and starts the node with defaults.
    """
    if params_file and not Path(params_file).is_file():
        raise RuntimeError(f"params_file: the file '{params_file}' does not exist")
    # rcl also accepts the level of one logger, as "name:=level".
    if log_level.rpartition(":=")[2].lower() not in LEVELS:
        raise RuntimeError(f"log_level: must be {' | '.join(LEVELS)} (got '{log_level}')")
    if rviz:
        try:
            get_package_prefix("rviz2")
        except PackageNotFoundError as error:
            raise RuntimeError("rviz: the package rviz2 is not installed") from error


def start(context: LaunchContext) -> list[Node]:
    """Return the node, with the parameters that the arguments set, and RViz if requested."""

    def value(name: str) -> str:
        return LaunchConfiguration(name).perform(context)

    def is_true(name: str) -> bool:
        return value(name).lower() == "true"

    file = value("params_file")
    check(file, value("log_level"), is_true("rviz"))
    given = {name: is_true(name) for name in ("use_sim_time", "autostart") if value(name)}
    server = Node(
        package="gjk_collision",
        executable="collision_server",
        name="collision_server",
        namespace=value("namespace"),
        parameters=[*([file] if file else []), *([given] if given else [])],
        ros_arguments=[
            "--log-level",
            value("log_level"),
            *(["--enclave", value("enclave")] if value("enclave") else []),
        ],
        respawn=is_true("respawn"),
        respawn_delay=1.0,
        output="screen",
    )
    if not is_true("rviz"):
        return [server]
    clock = {name: value for name, value in given.items() if name == "use_sim_time"}
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        namespace=value("namespace"),
        arguments=["-d", RVIZ_FILE],
        parameters=[clock] if clock else [],
    )
    return [server, rviz]


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the node."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "namespace",
                default_value="",
                description="Namespace of the node, its topics and its services",
            ),
            DeclareLaunchArgument(
                "params_file",
                default_value="",
                description="Parameter file; its key is '/**' or the full name of the node",
            ),
            DeclareLaunchArgument(
                "use_sim_time",
                default_value="",
                choices=["", *TRUTH],
                description="Take the time from the topic /clock",
            ),
            DeclareLaunchArgument(
                "autostart",
                default_value="",
                choices=["", *TRUTH],
                description="Configure and activate without a lifecycle manager",
            ),
            DeclareLaunchArgument(
                "log_level",
                default_value="info",
                description=f"Log level of the node: {' | '.join(LEVELS)}, or <logger>:=<level>",
            ),
            DeclareLaunchArgument(
                "respawn",
                default_value="false",
                choices=TRUTH,
                description="Restart the node if its process ends",
            ),
            DeclareLaunchArgument(
                "enclave", default_value="", description="Security enclave of the node (SROS2)"
            ),
            DeclareLaunchArgument(
                "rviz",
                default_value="false",
                choices=TRUTH,
                description="Show the node's markers in RViz",
            ),
            OpaqueFunction(function=start),
        ]
    )

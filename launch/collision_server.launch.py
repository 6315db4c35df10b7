# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Launch the collision server.

An argument that is not given sets no parameter, and no parameter file is passed by default. A
default would replace the values of `SetParameter` around this file. The node has the defaults.
"""

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path

from ament_index_python import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare
from launch_ros.utilities import make_namespace_absolute, prefix_namespace

PACKAGE = "gjk_collision"
RVIZ_FILE = PathJoinSubstitution([FindPackageShare(PACKAGE), "config", "collision_server.rviz"])
TRUTH = ["true", "false", "True", "False"]
LEVELS = ["debug", "info", "warn", "error", "fatal"]
# If the similarity of two names (difflib's ratio) is at least this, one is a misspelling of the
# other. "ros_namespace", which launch_ros sets, is less similar to "namespace".
CLOSE = 0.85


ARGUMENTS = [
    DeclareLaunchArgument(
        "namespace",
        default_value="",
        description="Namespace of the node, its topics and its services",
    ),
    DeclareLaunchArgument(
        "name", default_value="collision_server", description="Name of the node"
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value="",
        description="Parameter file; its key is '/**' or the full name of the node",
    ),
    DeclareLaunchArgument(
        "remappings",
        default_value="",
        description="Rules <from>:=<to> for names of topics and services, separated by spaces",
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
]


def check_names(context: LaunchContext) -> None:
    """Raise an error for an argument that this file does not have.

    An including file has arguments of its own. They are refused only if their name is almost that
    of an argument of this file which has its default.
    """
    defaults = {
        each.name: "".join(part.perform(context) for part in each.default_value)
        for each in ARGUMENTS
    }
    given = context.launch_configurations
    unset = [name for name, default in defaults.items() if given.get(name, default) == default]
    typed = [word.partition(":=")[0] for word in context.argv] if is_started_directly() else []
    for name in dict.fromkeys([*typed, *given]):
        close = get_close_matches(name, unset, n=1, cutoff=CLOSE)
        if name not in defaults and "launch-prefix" not in name and (close or name in typed):
            hint = f"did you mean '{close[0]}'?" if close else f"it has: {', '.join(defaults)}"
            raise RuntimeError(f"{name}: is not an argument of {Path(__file__).name}; {hint}")


def is_started_directly() -> bool:
    """Return whether the command line names this file, which is then not included."""
    file = Path(__file__)
    return (PACKAGE, file.name) in pairwise(sys.argv) or any(
        Path(word).name == file.name and Path(word).resolve() == file.resolve()
        for word in sys.argv
    )


def check(values: dict[str, str], environment: Mapping[str, str]) -> None:
    """Raise an error for a bad value of an argument before any node is started.

    Without this check, launch only warns about a missing file, and starts the node with defaults.
    """
    if values["params_file"] and not Path(values["params_file"]).is_file():
        raise RuntimeError(f"params_file: the file '{values['params_file']}' does not exist")
    # rcl also accepts the level of one logger, as "name:=level".
    if values["log_level"].rpartition(":=")[2].lower() not in LEVELS:
        choices = " | ".join(LEVELS)
        raise RuntimeError(f"log_level: must be {choices} (got '{values['log_level']}')")
    if values["enclave"] and environment.get("ROS_SECURITY_ENABLE") != "true":
        rule = "has no effect, because the environment variable ROS_SECURITY_ENABLE is not 'true'"
        raise RuntimeError(f"enclave: {rule} (got '{values['enclave']}')")
    for rule in values["remappings"].split():
        if not all(rule.partition(":=")):
            raise RuntimeError(f"remappings: must be rules <from>:=<to> (got '{rule}')")
    if values["rviz"].lower() == "true":
        try:
            get_package_prefix("rviz2")
        except PackageNotFoundError as error:
            raise RuntimeError("rviz: the package rviz2 is not installed") from error


def log_level(values: dict[str, str], context: LaunchContext) -> str:
    """Return the value of --log-level. The logger of a node has its namespace in its name."""
    logger, separator, level = values["log_level"].rpartition(":=")
    if logger == values["name"]:
        outer = context.launch_configurations.get("ros_namespace")
        namespace = make_namespace_absolute(prefix_namespace(outer, values["namespace"])) or "/"
        logger = f"{namespace}/{logger}".strip("/").replace("/", ".")
    return f"{logger}{separator}{level}"


def start(context: LaunchContext) -> list[Node]:
    """Return the node, with the parameters that the arguments set, and RViz if requested."""
    check_names(context)
    values = {each.name: LaunchConfiguration(each.name).perform(context) for each in ARGUMENTS}
    check(values, context.environment)

    def is_true(name: str) -> bool:
        return values[name].lower() == "true"

    file, name, enclave = values["params_file"], values["name"], values["enclave"]
    given = {each: is_true(each) for each in ("use_sim_time", "autostart") if values[each]}
    remappings = [tuple(rule.split(":=", 1)) for rule in values["remappings"].split()]
    server = Node(
        package=PACKAGE,
        executable="collision_server",
        name=name,
        namespace=values["namespace"],
        parameters=[*([file] if file else []), *([given] if given else [])],
        remappings=remappings,
        ros_arguments=[
            "--log-level",
            log_level(values, context),
            *(["--enclave", enclave] if enclave else []),
        ],
        respawn=is_true("respawn"),
        respawn_delay=1.0,
        output="screen",
    )
    if not is_true("rviz"):
        return [server]
    clock = {each: value for each, value in given.items() if each == "use_sim_time"}
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        namespace=values["namespace"],
        arguments=["-d", RVIZ_FILE],
        parameters=[clock] if clock else [],
        remappings=[*remappings, ("collision_server/markers", f"{name}/markers")],
    )
    return [server, rviz]


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and the node."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])

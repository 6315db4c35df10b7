# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch file as an action of another one."""

from __future__ import annotations

from pathlib import Path

from ament_index_python import get_package_share_directory
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def included(**arguments: str) -> IncludeLaunchDescription:
    """Include the launch file of the server with these arguments."""
    share = get_package_share_directory("gjk_collision")
    file = Path(share, "launch", "collision_server.launch.py")
    source = PythonLaunchDescriptionSource(str(file))
    return IncludeLaunchDescription(source, launch_arguments=arguments.items())

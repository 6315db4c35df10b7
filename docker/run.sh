#!/bin/bash
# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
#
# Run a command with ROS 2 and this package.
# shellcheck source=/dev/null
source /opt/gjk_collision/setup.bash
exec "$@"

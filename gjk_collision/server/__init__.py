# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server without ROS: parameters, received data, snapshots, and the answers."""

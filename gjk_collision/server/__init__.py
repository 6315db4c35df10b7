# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server without ROS: data in, snapshots, questions about them, answers."""

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay of a bag without ROS: it computes the answers of the node again from recorded data.

The package needs rosbags and PyYAML, which are in the extra ``replay``. `drive` has the main loop.
The other modules read bags, choose topics, inject faults (`faults`), and check the results
(`expect`, `golden`).
"""

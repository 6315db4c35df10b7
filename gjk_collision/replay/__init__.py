# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded drives, asked the same questions again: the node's world and queries, fed from a bag.

Needs rosbags and PyYAML (``pip install gjk_collision[replay]``), and no ROS. `drive` is the loop;
the modules about it read bags, choose topics, break the data on purpose (`faults`), and judge what
comes out (`expect`, `golden`).
"""

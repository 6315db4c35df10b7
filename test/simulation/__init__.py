# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole chain in one process under one seed: senders, network, node, mirrors and clients.

`plan` writes a random plan of events, `run` executes it with the code of the package, and
`oracle` decides from the facts alone which answers FREE are justified. ``python -m simulation``
runs many seeds.

Not simulated: scans, clouds, grids and regions, transforms of lists that arrive late, the loss of
/clock, paths, gradients and nearest free poses, mirrors in C++, and rclpy itself. `node` and
`planner` repeat what the callbacks in ros/ do, and use ros/exchange.py and ros/pauses.py
themselves. `live` compares them with real processes of the node: ``python -m simulation.live``.
"""

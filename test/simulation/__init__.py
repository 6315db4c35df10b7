# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole chain in one process under one seed: sensors, network, node, mirrors and clients.

`plan` writes a random plan of events, `run` executes it with the code of the package, and
`oracle` decides from the facts alone which answers FREE are justified. ``./dev simulate`` runs
many seeds. `live` plays plans on real processes of the node, and compares the answers.

Not simulated: point clouds, messages of other packages, gradients, arcs, and rclpy itself.
"""

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Other formats of shapes: GeoJSON to read, SVG to show."""

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: ./dev docs. The same pages can be read on the repository's page."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ET.parse(ROOT / "package.xml")
REPOSITORY = next(
    url.text.removesuffix(".git") for url in PACKAGE.iter("url") if url.get("type") == "repository"
)

project = "gjk_collision"
author = copyright = "gjk_collision contributors"
version = release = PACKAGE.findtext("version")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"{project} {version}"
myst_heading_anchors = 4
# Words of these languages that the highlighter does not know are shown as they are.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
default_role = "literal"
# The site is built without ROS and without the extras.
autodoc_mock_imports = [
    "builtin_interfaces",
    "geometry_msgs",
    "gjk_collision.msg",
    "gjk_collision.srv",
    "matplotlib",
    "rclpy",
    "std_msgs",
]
napoleon_numpy_docstring = True
napoleon_use_ivar = True


def link_to_repository(app, docname, source):
    """Let links to files outside of docs/ lead to the repository's page."""
    up = "../" * (docname.count("/") + 1)
    source[0] = re.sub(rf"\]\({re.escape(up)}(?!docs/)", f"]({REPOSITORY}/blob/main/", source[0])


def setup(app):
    """Connect the event; Sphinx calls it."""
    app.connect("source-read", link_to_repository)

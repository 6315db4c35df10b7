# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: ./dev docs. The same pages can be read on the repository's page."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ET.parse(ROOT / "package.xml")
REPOSITORY = next(
    url.text.removesuffix(".git") for url in PACKAGE.iter("url") if url.get("type") == "repository"
)

project = "gjk_collision"
author = copyright = "gjk_collision contributors"
version = release = PACKAGE.findtext("version")

extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"{project} {version}"
html_static_path = ["static"]
html_css_files = ["tables.css"]
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
    "std_srvs",
]
# ./dev docs runs doxygen with docs/Doxyfile.
breathe_projects = {"gjk": str(ROOT / ".dev" / "docs" / "doxygen" / "xml")}
breathe_default_project = "gjk"
napoleon_numpy_docstring = True
napoleon_use_ivar = True


def link_to_repository(app, docname, source):
    """Let links to files outside of docs/ lead to the repository's page."""
    up = "../" * (docname.count("/") + 1)
    source[0] = re.sub(rf"\]\({re.escape(up)}(?!docs/)", f"]({REPOSITORY}/blob/main/", source[0])


class CommandHelp(Directive):
    """The help text of a command of `python -m gjk_collision`, or of `./dev`."""

    optional_arguments = 1

    def run(self):
        """Return the text as a block of code."""
        if self.arguments == ["./dev"]:
            words = [str(ROOT / "dev"), "help"]
        else:
            words = [sys.executable, "-m", "gjk_collision", *self.arguments, "--help"]
        environment = {**os.environ, "COLUMNS": "92"}
        text = subprocess.run(
            words, check=True, capture_output=True, text=True, env=environment
        ).stdout
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        return [block]


def setup(app):
    """Connect the event and the directive; Sphinx calls it."""
    app.connect("source-read", link_to_repository)
    app.add_directive("command-help", CommandHelp)

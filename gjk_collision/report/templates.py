# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Rendering of the HTML, CSS and SVG templates in this folder with Jinja2."""

from pathlib import Path
from typing import Any

from ..formats.figures import VEHICLE, VERDICT_COLOURS

__all__ = ["render"]


def render(name: str, **values: Any) -> str:
    """Return a page or a picture. All values are escaped. A missing value raises an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(
        verdicts=VERDICT_COLOURS, vehicle=VEHICLE, **values
    )

# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""help() of the public names: each attribute is described, and each signature can be read."""

import inspect
import re
from dataclasses import fields, is_dataclass

import pytest

import gjk_collision
from gjk_collision import results
from gjk_collision.server import answers

PUBLIC = {name: getattr(gjk_collision, name) for name in gjk_collision.__all__}
RESULTS = {
    each
    for each in [*PUBLIC.values(), *vars(results).values(), *vars(answers).values()]
    if is_dataclass(each) and "Fault" not in str(each)
}


@pytest.mark.parametrize("kind", sorted(RESULTS, key=lambda kind: kind.__qualname__))
def test_each_attribute_of_a_result_is_described(kind: type) -> None:
    """What follows a field in the source is not in help(); the class's own text is."""
    text = "\n".join(inspect.getdoc(each) or "" for each in kind.__mro__[:-1])
    lines = re.findall(r"^([\w, ]+) : ", text, re.MULTILINE)
    described = {name for line in lines for name in line.split(", ")}
    assert {each.name for each in fields(kind) if each.name[0] != "_"} <= described


def signatures() -> dict[str, str]:
    found = {}
    for name, each in PUBLIC.items():
        if inspect.isfunction(each):
            found[name] = str(inspect.signature(each))
        elif inspect.isclass(each):
            for method, function in inspect.getmembers(each, callable):
                own = getattr(function, "__module__", "") or ""
                if own.startswith("gjk_collision") and not method.startswith("_"):
                    found[f"{name}.{method}"] = str(inspect.signature(function))
    return found


def test_signatures_name_types_as_the_source_does() -> None:
    found = signatures()
    assert len(found) >= 30
    for name, text in found.items():
        assert "_SupportsArray" not in text and "numpy." not in text, f"{name}{text}"
    assert "poses: 'ArrayLike'" in found["Scene.check"]

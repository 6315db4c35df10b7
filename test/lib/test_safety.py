# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/safety.md and the tests agree: no requirement without a test, no claim without its test."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLAIM = re.compile(r"(?P<indent> *)- \*\*(?P<name>C-[\d.]+) .+?\*\*(?P<reason>.*)")
ASSUMPTION = re.compile(r"\| (A-\d+) \| .+ \|")
ROW = re.compile(r"\| ([A-Z]-\d+) \| (.+) \| (.*) \|")


def claimed() -> dict[str, set[str]]:
    rows = [ROW.fullmatch(line) for line in (ROOT / "docs/safety.md").read_text().splitlines()]
    found = {row[1]: set(re.findall(r"`([^`]+::[^`]+)`", row[3])) for row in rows if row}
    assert len(found) == sum(row is not None for row in rows), "an identifier is there twice"
    return found


def marked() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in (ROOT / "test").rglob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
                continue
            for each in node.decorator_list:
                if isinstance(each, ast.Call) and ast.unparse(each.func).endswith(".requirement"):
                    (name,) = (ast.literal_eval(argument) for argument in each.args)
                    test = f"{path.relative_to(ROOT).as_posix()}::{node.name}"
                    found.setdefault(name, set()).add(test)
    return found


def test_no_requirement_is_without_a_test() -> None:
    assert claimed()
    for name, tests in claimed().items():
        assert tests, f"{name} names no test"


def test_document_and_tests_name_each_other() -> None:
    assert claimed() == marked()


def test_the_tests_of_known_defects_exist() -> None:
    text = (ROOT / "docs/safety.md").read_text().split("## Known defects", 1)[1]
    named = re.findall(r"`([^`]+)::(\w+)`", text)
    assert len(named) > 15
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)


def kernel_cases() -> set[str]:
    return {
        f"{path.name}: {case[1]}.{case[2]}"
        for path in (ROOT / "src_cpp/test").glob("*_test.cpp")
        for case in re.finditer(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", path.read_text(), re.MULTILINE)
    }


def python_cases() -> set[str]:
    return {
        f"{path.relative_to(ROOT).as_posix()}::{name}"
        for path in (ROOT / "test").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }


def test_every_leaf_of_the_argument_exists() -> None:
    """A claim without claims under it has evidence, all of which exists; none is forgotten."""
    document = (ROOT / "docs/safety.md").read_text()
    claims = [claim for claim in map(CLAIM.fullmatch, document.splitlines()) if claim]
    names = [claim["name"] for claim in claims]
    assert len(names) == len(set(names)) > 30
    kinds = {".gappa", ".sollya", ".v"}
    scripts = {path.name for path in (ROOT / "src_cpp").rglob("*") if path.suffix in kinds}
    assumptions = set(ASSUMPTION.findall(document))
    truths = {f"verify/{path.name}" for path in (ROOT / "src_cpp/verify").glob("*.hpp")}
    exists = kernel_cases() | python_cases() | scripts | assumptions | set(claimed()) | truths
    named: set[str] = set()
    for claim in claims:
        parent = claim["name"].rpartition(".")[0]
        assert not parent or parent in names, claim["name"]
        assert len(claim["indent"]) == 2 * claim["name"].count("."), claim["name"]
        _, has_evidence, evidence = claim["reason"].partition("Evidence: ")
        is_leaf = not any(name.startswith(claim["name"] + ".") for name in names)
        assert bool(has_evidence) == is_leaf, claim["name"]
        if is_leaf:
            leaves = [leaf.strip("`") for leaf in evidence.split(", ")]
            assert set(leaves) <= exists, (claim["name"], set(leaves) - exists)
            named.update(leaves)
    assert scripts | assumptions | set(claimed()) <= named, "no claim rests on it"

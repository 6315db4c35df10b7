# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The scripts that `./dev prove` proves are about the code as it is, with its constants."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "src_cpp/proofs"))

import quotes

SCRIPTS = sorted(path for path in quotes.SCRIPTS.glob("*") if path.suffix in {".gappa", ".v"})
CONSTANT = re.compile(r"^(\w+ = )(.+)(;  # = .+)$", re.MULTILINE)
QUOTED = re.compile(r"^(?:#|\(\*) Code \((\S+)\):\n((?:(?:#|  )   .*\n)+)", re.MULTILINE)
OF_HYPOTHESES = {("k_unit = ", "exact.unit_length.gappa"), ("k_sin_cos = ", "pose.turn.gappa")}
FACTOR = re.compile(r"([\d.]+) \* kUnitRoundoff")


def findings(copy: Path) -> str:
    return "\n".join(quotes.findings(copy / "gjk", copy / "proofs"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(quotes.KERNEL, tmp_path / "gjk")
    shutil.copytree(quotes.SCRIPTS, tmp_path / "proofs")
    return tmp_path


def test_scripts_quote_the_code() -> None:
    assert not list(quotes.findings(quotes.KERNEL, quotes.SCRIPTS))
    assert len(SCRIPTS) >= 15


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_another_constant_in_the_code_is_found(script: Path, copy: Path) -> None:
    """Half of each bound that a script quotes, and other code around it."""
    for file, lines in QUOTED.findall(script.read_text()):
        header = copy / "gjk" / file
        text = header.read_text()
        for factor in set(FACTOR.findall(lines)):
            half = f"{float(factor) / 2:g}.0 * kUnitRoundoff".replace(".5.0", ".5")
            header.write_text(text.replace(f"{factor} * kUnitRoundoff", half))
            assert script.name in findings(copy), (file, factor)
        header.write_text(re.sub(r"(?m)^(?!\s*//)(.*)\+", r"\1-", text))
        if "+" in lines:
            assert script.name in findings(copy), file
        header.write_text(text)


@pytest.mark.parametrize(
    "script", [each for each in SCRIPTS if CONSTANT.search(each.read_text())], ids=lambda p: p.name
)
def test_another_constant_in_the_script_is_found(script: Path, copy: Path) -> None:
    changed = copy / "proofs" / script.name
    text = script.read_text()
    for constant in CONSTANT.finditer(text):
        changed.write_text(
            text.replace(constant[0], f"{constant[1]}2 * {constant[2]}{constant[3]}")
        )
        assert script.name in findings(copy), constant[0]


def test_a_proof_that_no_comment_names_is_found(copy: Path) -> None:
    shutil.copy(SCRIPTS[0], copy / "proofs/other.gappa")
    assert "other.gappa: no comment names it" in findings(copy)


@pytest.mark.skipif(shutil.which("gappa") is None, reason="gappa is not installed")
def test_a_bound_of_half_its_size_is_not_proven(tmp_path: Path) -> None:
    """So the proofs are about these constants: none has a factor of 2 to spare."""
    weaker = tmp_path / "weaker.gappa"
    tried = 0
    for script in SCRIPTS:
        text = script.read_text()
        for name, value, code in CONSTANT.findall(text):
            if not re.search(r"kUnitRoundoff|= (16\.0|1\.25)$", code):
                continue
            # These two are of a hypothesis: there, the larger value is the weaker one.
            factor = "1b1" if (name, script.name) in OF_HYPOTHESES else "1b-1"
            weaker.write_text(text.replace(f"{name}{value}{code}", f"{name}({value}) * {factor};"))
            done = subprocess.run(["gappa", weaker], check=False, capture_output=True)
            assert done.returncode != 0, (script.name, name)
            tried += 1
    assert tried >= 15

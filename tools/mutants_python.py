# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Draw a sample of mutants of the server's rules, run the tests on each, and print the results.

mutmut makes the mutants and runs the tests; its options are in pyproject.toml. For each mutant it
runs the tests that call the mutated function, the fastest test first, until one fails. It does not
mutate decorated functions, annotations, docstrings and constants of modules and classes. Mutants
that mypy refuses are neither killed nor survived: no such code gets as far as the tests.

The script runs in a copy of the checkout (``./dev mutate python``). The results are stored there.
If the command is run again, mutants that were killed are not tested again, unless their function
has changed. Survivors are tested again, unless a reason is given for them.

With ``--one-file``, the mutants are those of one file, which the seed chooses. mutmut only makes
them: each is written into the copy, and the tests run until one fails, first those that name most
of what the file defines. This takes a minute or two, where mutmut would first have to run all
tests to see which of them call which function.
"""

import argparse
import ast
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

import tomllib
from mutmut.mutation.data import LineSpan, SourceFileMutationData
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files
from mutmut.utils.format_utils import get_mutant_name

# Minimum percentage of killed mutants.
REQUIRED = 90.0
# Variables that hold messages for people.
MESSAGES = {"rule", "text"}
# numpy computes the length of an axis for -2 as for -1.
AXIS = re.compile(r"(reshape\(.*?)-2\b")
NOT_KILLED = {"survived", "no tests", "not checked"}
REFUSED = "caught by type check"


@dataclass(frozen=True)
class Mutant:
    """A change of one function, and the lines that it changes."""

    name: str
    file: str
    line: int
    original: str
    mutated: str
    is_text: bool
    has_same_function: bool  # the stored result was found for this text of the function
    begin: int  # index of the first line of the function
    before: list[str]  # the function
    after: list[str]  # the function with the change

    def applied(self, source: str) -> str:
        """Return the text of the file with the change."""
        lines = source.splitlines(keepends=True)
        end = self.begin + len(self.before)
        return "".join([*lines[: self.begin], *(f"{each}\n" for each in self.after), *lines[end:]])

    def status(self) -> str:
        """Return the stored result, in the words of mutmut."""
        stored = SourceFileMutationData(path=self.file)
        stored.load()
        return status_by_exit_code[stored.exit_code_by_key.get(self.name)]


def called_at_import(node: ast.AST) -> Iterator[str]:
    """Yield the names of functions that a module calls while it is imported.

    The module is imported before a mutant is chosen, so no test can notice mutants of these.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name):
            yield child.func.id
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from called_at_import(child)


def mutants_of(path: Path) -> list[Mutant]:
    """Return the mutants of a file that tests can notice."""
    source = path.read_text()
    made = mutate_file_contents(str(path), source)
    left_out = {f"x_{name}" for name in called_at_import(ast.parse(source))}
    lines = made.code.splitlines()
    stored = SourceFileMutationData(path=path)
    stored.load()
    begins = _first_lines(source)
    found = []
    for name in made.mutant_names:
        function = name.partition("__mutmut_")[0]
        if function in left_out:
            continue
        before, after = (
            _definition(lines, made.line_span_by_function_name[each])
            for each in (f"{function}__mutmut_orig", name)
        )
        first, original, mutated = _changed_lines(before, after)
        if AXIS.sub(r"\1-1", mutated) == original:
            continue
        # mutmut puts the name of the class before that of a method, and x before all.
        plain = function.removeprefix("x_").rpartition("ǁ")[2]
        mutant = Mutant(
            get_mutant_name(path, name),
            str(path),
            begins[function] + first,
            original,
            mutated,
            _is_text(_changed_node(_parsed(before), _parsed(after))),
            made.hash_by_function_name[function] == stored.hash_by_function_name.get(function),
            begins[function] - 1,
            before,
            [after[0].replace(function, plain, 1), *after[1:]],
        )
        found.append(mutant)
    return found


def _first_lines(source: str) -> dict[str, int]:
    """Return the line of each function and method of a module, by mutmut's names."""
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    lines = {}
    for node in ast.parse(source).body:
        if isinstance(node, functions):
            lines[f"x_{node.name}"] = node.lineno
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, functions):
                    lines[f"xǁ{node.name}ǁ{each.name}"] = each.lineno
    return lines


def _definition(lines: list[str], span: LineSpan) -> list[str]:
    """Return the lines of a function from its ``def``, without mutmut's addition to its name."""
    begin = next(i for i in range(span.start - 1, span.end) if "__mutmut_" in lines[i])
    name = re.sub(r"__mutmut_(orig|\d+)", "", lines[begin], count=1)
    return [name, *lines[begin + 1 : span.end]]


def _changed_lines(before: list[str], after: list[str]) -> tuple[int, str, str]:
    """Return the index of the first changed line, and the changed lines before and after."""
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [step for step in steps if step[0] != "equal"]
    (_, i, _, k, _), (_, _, j, _, m) = changes[0], changes[-1]
    return i, *(textwrap.dedent("\n".join(each)) for each in (before[i:j], after[k:m]))


def _parsed(lines: list[str]) -> ast.AST:
    return ast.parse(textwrap.dedent("\n".join(lines)))


def _changed_node(before: ast.AST, after: ast.AST) -> ast.AST:
    """Return the smallest node that contains all changes, or the text that contains them."""
    if _is_text(before) or type(before) is not type(after):
        return before
    children = list(ast.iter_child_nodes(before)), list(ast.iter_child_nodes(after))
    if len(children[0]) == len(children[1]):
        pairs = [pair for pair in zip(*children, strict=True) if len(set(map(ast.dump, pair))) > 1]
        if len(pairs) == 1:
            return _changed_node(*pairs[0])
    return before


def _is_text(node: ast.AST) -> bool:
    """Return whether a node is a message for people: a string of several words, or its variable.

    Mutants of messages are left out of the sample, because only their status is promised. Names of
    parameters and fields in errors are strings without a space, so their mutants are not left out.
    """
    if isinstance(node, ast.JoinedStr):
        return any(map(_is_text, node.values))
    if isinstance(node, ast.Name):
        return node.id in MESSAGES
    value = getattr(node, "value", None)
    return isinstance(value, str) and " " in value and any(map(str.isalpha, value))


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Draw mutants from each file in proportion to their number."""
    drawn: list[Mutant] = []
    files = sorted({each.file for each in mutants})
    passed = 0
    for file in files:
        ours = [each for each in mutants if each.file == file]
        # The rounding errors of the shares do not add up.
        passed += len(ours)
        share = round(count * passed / len(mutants)) - len(drawn)
        drawn += Random(f"{seed} {file}").sample(ours, min(share, len(ours)))
    return drawn


def table(mutants: list[Mutant], statuses: dict[str, str]) -> str:
    """Return the results by file, as a table in Markdown."""
    rows = ["| file | refused by mypy | other | killed | survived | killed [%] |"]
    rows.append("|---|---|---|---|---|---|")
    files = sorted({each.file for each in mutants})
    for file in [*files, "all"]:
        found = [statuses[each.name] for each in mutants if file in (each.file, "all")]
        others = [each for each in found if each != REFUSED]
        killed = sum(each not in NOT_KILLED for each in others)
        name = f"`{file}`" if file != "all" else file
        share = 100.0 * killed / max(len(others), 1)
        counts = f"{len(found) - len(others)} | {len(others)} | {killed} | {len(others) - killed}"
        rows.append(f"| {name} | {counts} | {share:.1f} |")
    return "\n".join(rows)


def tests_of(path: Path, options: dict[str, list[str]]) -> list[list[str]]:
    """Return pytest's arguments of two runs: tests that name most of a file, then the others."""
    chosen = options["pytest_add_cli_args_test_selection"]
    names = re.findall(r"^ *(?:def|class) ([a-z]\w+|[A-Z]\w+)", path.read_text(), re.MULTILINE)
    pattern = re.compile(rf"\b(?:{'|'.join([path.stem, *names])})\b")

    def mentions(test: str) -> int:
        return len(pattern.findall(Path(test.partition("::")[0]).read_text()))

    files = sorted((each for each in chosen if each[0] != "-"), key=mentions, reverse=True)
    common = [each for each in chosen if each[0] == "-"] + options["pytest_add_cli_args"]
    return [[*common, *files[:4]], [*common, *files[4:]]]


def failing(arguments: list[str]) -> str:
    """Run tests until one fails; return its file, or nothing if all pass."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", *arguments]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return "the time limit"
    found = re.search(r"^(?:FAILED|ERROR) ([\w/.]+)", run.stdout, re.MULTILINE)
    if run.returncode and not found:
        sys.exit(run.stdout + run.stderr)
    return found[1] if found else ""


def one_file(given: argparse.Namespace) -> int:
    """Test some mutants of one file; return 1 if one survives that has no reason."""
    path = Random(given.seed).choice(sorted(walk_mutatable_files()))
    source = path.read_text()
    options = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["mutmut"]
    known = tomllib.loads(given.reasons.read_text()).get("survivor", [])
    reasons = {(each["file"], each["original"], each["mutated"]) for each in known}
    mutants = [
        each
        for each in mutants_of(path)
        if not each.is_text and (each.file, each.original, each.mutated) not in reasons
    ]
    passed = {"", "the time limit"}  # files of tests that pass without a mutant
    survivors = 0
    for mutant in Random(given.seed).sample(mutants, min(given.count, len(mutants))):
        path.write_text(mutant.applied(source))
        killer = next(filter(None, map(failing, tests_of(path, options))), "")
        refused = (
            not killer
            and subprocess.run(
                options["type_check_command"], capture_output=True, check=False
            ).returncode
        )
        path.write_text(source)
        if killer not in passed and failing([killer]):
            sys.exit(f"{killer} fails without a mutant")
        passed.add(killer)
        survivors += not killer and not refused
        found = f"killed by {killer}" if killer else REFUSED if refused else "survived"
        print(f"\n{mutant.file}:{mutant.line}: {found}")
        print(textwrap.indent(mutant.original, "- "))
        print(textwrap.indent(mutant.mutated, "+ "), flush=True)
    print(f"\n./dev mutate python --one-file --count={given.count} --seed={given.seed}")
    print(f"{survivors} mutants of {path} survived; they need a test, or a reason.")
    return int(survivors > 0)


def main() -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="./dev mutate python", allow_abbrev=False)
    parser.add_argument("--count", type=int, default=300, help="number of mutants")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--processes", type=int, default=1, help="number of processes")
    parser.add_argument("--one-file", action="store_true", help="mutants of one file only")
    parser.add_argument("--reasons", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one_file:
        return one_file(given)

    every = [mutant for path in sorted(walk_mutatable_files()) for mutant in mutants_of(path)]
    mutants = [each for each in every if not each.is_text]
    drawn = sample(mutants, given.count, given.seed)
    known = tomllib.loads(given.reasons.read_text()).get("survivor", [])
    reasons = {(each["file"], each["original"], each["mutated"]): each["reason"] for each in known}
    for key in reasons.keys() - {(each.file, each.original, each.mutated) for each in every}:
        sys.exit(f"{given.reasons.name} has a reason for a mutant that no longer exists: {key}")

    def reason(mutant: Mutant) -> str:
        return reasons.get((mutant.file, mutant.original, mutant.mutated), "")

    def is_done(mutant: Mutant) -> bool:
        status = mutant.status() if mutant.has_same_function else "not checked"
        return status not in NOT_KILLED or (status == "survived" and reason(mutant) != "")

    rest = [each.name for each in drawn if not is_done(each)]
    while rest:
        subprocess.run(["mutmut", "run", f"--max-children={given.processes}", *rest], check=True)
        # mutmut deletes results of other functions and time limits when it starts.
        rest = [each.name for each in drawn if each.status() == "not checked"]
    statuses = {each.name: each.status() for each in drawn}
    survivors = [each for each in drawn if statuses[each.name] in NOT_KILLED]
    for each in survivors:
        status = statuses[each.name]
        print(f"\n{each.file}:{each.line}: {status} ({each.name})")
        print(textwrap.indent(each.original, "- "))
        print(textwrap.indent(each.mutated, "+ "))
        print(f"reason: {reason(each) or 'none'}")

    counts = Counter(statuses.values())
    accepted = len(drawn) - counts[REFUSED]
    score = 100.0 * (accepted - len(survivors)) / accepted
    command_line = f"./dev mutate python --count={given.count} --seed={given.seed}"
    print(f"\n`{command_line}`, {date.today()}: {len(drawn)} of {len(mutants)} mutants.")
    print(f"{len(every) - len(mutants)} mutants of messages are left out.")
    print(f"{counts['timeout']} of the killed mutants exceeded the time limit.\n")
    print(table(drawn, statuses))
    return int(score < REQUIRED or not all(map(reason, survivors)))


if __name__ == "__main__":
    sys.exit(main())

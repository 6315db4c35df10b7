# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Mutation test of the C++ kernel: ``./dev mutate cpp``.

universalmutator proposes the mutants. Its own analyze_mutants is not used, because it mutates the
checkout, has one test command for all files and does not recognise equivalent mutants. Here, each
mutant is built and tested in a copy of the tree. The results are appended to a file with one JSON
object per line, so an interrupted run continues where it stopped.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import io
import itertools
import json
import os
import queue
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import yaml
from universalmutator import mutator

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = Path("src_cpp/include/gjk")
COPIED = ("src_cpp", "package.xml", "test")
KILLED = ("killed", "timeout")
KINDS = ("no effect", "conservative", "unexplained")  # of survivors
BUILD_TIMEOUT = 300.0  # s
MEMORY = 4 << 30  # bytes, of a test
LEAST_SCORE = 0.9
INVALID = re.compile(
    r"\)[.x]\d|\d\.[(-]|--\d|[!<>=]=="  # (1+1).0, (0+1)x1p-40, 0.(0-1), --1.0, !==
    r"|\bVec(?!2\b)|(Expansion|numeric_limits|bit_cast)(?![<:])|\w<[\w ]+<&"  # types
    r"|/\*(const|constexpr|static|inline|friend|using|auto|bool|int|long|double|Vec2)\b"
)


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One changed line of a header."""

    file: str  # relative to INCLUDE
    line: int  # from 1
    original: str
    mutated: str
    key: str


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def region(lines: list[str], text: str, file: str) -> range:
    """Return the indices of the lines of the region that begins with a text; see targets.yaml."""
    begins = [i for i, line in enumerate(lines) if text in line]
    if len(begins) != 1:
        sys.exit(f"targets.yaml: {file} has {len(begins)} lines with {text!r}, not 1")
    begin = begins[0]
    indent = re.match(r"\s*", lines[begin]).group()  # type: ignore[union-attr]
    for i in range(begin, len(lines)):
        code = lines[i].split("//")[0].rstrip()
        if code.endswith(";") or code.endswith("}"):
            return range(begin, i + 1)
        if code.endswith("{"):
            break
    end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith(indent + "}"))
    return range(begin, end + 1)


def can_compile(original: str, mutated: str) -> bool:
    """Return whether a mutant is worth a compilation: its brackets are those of the original."""
    before, after = (re.sub(r"/\*.*\*/|//.*", "", text) for text in (original, mutated))
    balance = [(text.count("{"), text.count("}"), text.count("(") - text.count(")"))
               for text in (before, after)]  # fmt: skip
    return balance[0] == balance[1] and not INVALID.search(mutated)


class Targets:
    """What is mutated, and the tests; read from targets.yaml."""

    def __init__(self) -> None:
        folder = ROOT / "src_cpp/mutation"
        self.config: dict[str, Any] = yaml.safe_load((folder / "targets.yaml").read_text())
        self.reasons: list[dict[str, str]] = yaml.safe_load(
            (folder / "survivors.yaml").read_text()
        )
        self.files: dict[str, dict[str, Any]] = self.config["files"]
        self.commands = [c for c in self.config["commands"] if (ROOT / c["needs"]).exists()]

        # Read once: the checkout may be edited during a run.
        self.text = {file: (ROOT / INCLUDE / file).read_text() for file in self.files}
        for each in self.reasons:
            lines = [line.split() for line in self.text.get(each["file"], "").splitlines()]
            if each["from"].split() not in lines:
                sys.exit(f"survivors.yaml: {each['file']} has no line {each['from']!r}")
        self.states = {file: self.state(file) for file in self.files}

    def tests(self) -> list[str]:
        """Return the tests of all files."""
        return list(dict.fromkeys(t for file in self.files.values() for t in file["tests"]))

    def lines(self, file: str) -> set[int]:
        """Return the numbers of the lines that are mutated."""
        lines = self.text[file].splitlines()
        options = self.files[file]
        chosen = set(range(len(lines)))
        if "only" in options:
            chosen = set(itertools.chain(*(region(lines, text, file) for text in options["only"])))
        for left_out in options.get("left_out", ()):
            chosen -= set(region(lines, left_out["text"], file))
        ignored = [re.compile(pattern) for pattern in self.config["ignored"]]
        return {
            i + 1
            for i in chosen
            if re.search(r"\w", lines[i]) and not any(p.search(lines[i]) for p in ignored)
        }

    def state(self, file: str) -> str:
        """Return a hash of all that the result of a mutant of this file depends on."""
        sources = [ROOT / f"src_cpp/test/{test}.cpp" for test in self.files[file]["tests"]]
        sources += sorted((ROOT / "src_cpp").glob("test/*.hpp"))
        sources += [ROOT / c["needs"] for c in self.commands]
        texts = [self.text[file], *(path.read_text() for path in sources)]
        texts.append(json.dumps([self.config["arguments"], self.commands]))
        return digest("\0".join(texts))

    def mutants(self, file: str) -> list[Mutant]:
        """Return all mutants of a file, one line changed in each."""
        source = self.text[file].splitlines(keepends=True)
        # universalmutator reads {- as the begin of a comment, as in FunC.
        source = [line.replace("{-", "{ -") for line in source]
        with contextlib.redirect_stdout(io.StringIO()):
            found = mutator.mutants_regexp(
                source, ["universal.rules", "c_like.rules", "cpp.rules"], ignorePatterns=[]
            )
        chosen = self.lines(file)
        state = self.states[file]
        result = []
        for number, mutated, *_ in found:
            original = source[number - 1]
            if number not in chosen or mutated.split() == original.split():
                continue
            if can_compile(original, mutated):
                key = digest(f"{state} {number} {mutated}")[:16]
                result.append(Mutant(file, number, original.strip(), mutated.strip(), key))
        return result

    def quotas(self, count: int) -> dict[str, int]:
        """Return the number of mutants of each file, in proportion to its lines of code."""
        sizes = {file: len(self.lines(file)) for file in self.files}
        ends = [
            round(count * s / sum(sizes.values())) for s in itertools.accumulate(sizes.values())
        ]
        return {file: b - a for file, a, b in zip(sizes, [0, *ends], ends, strict=False)}

    def reason(self, result: dict[str, Any]) -> tuple[str, str]:
        """Return the kind and the reason of a survivor; see survivors.yaml."""
        change = [result[key].split() for key in ("file", "original", "mutated")]
        for entry in self.reasons:
            if [entry[key].split() for key in ("file", "from", "to")] == change:
                return entry["kind"], " ".join(entry["reason"].split())
        return "unexplained", "no reason given"


def run(command: list[str], timeout: float, **options: Any) -> tuple[int | None, str]:
    """Run a command; return its exit status, None if it had to be ended, and its output."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        **options,
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return None, output
    return process.returncode, output


def limit() -> None:
    """Limit the memory of a test: a mutant may allocate without end."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Tree:
    """A copy of the tree, in which one mutant at a time is built and tested."""

    def __init__(self, folder: Path, targets: Targets) -> None:
        self.folder = folder
        self.targets = targets
        self.build = folder / ".dev/cpp/mutate"
        self.mutated: str | None = None
        self.plain: str | None = None  # machine code without a mutant
        for name in COPIED:
            self.copy(name)
        status, output = run(
            ["cmake", "--preset", "mutate"], BUILD_TIMEOUT, cwd=folder / "src_cpp"
        )
        if status != 0:
            sys.exit(output)
        commands = json.loads((self.build / "compile_commands.json").read_text())
        self.compile = {Path(c["file"]).stem: shlex.split(c["command"]) for c in commands}

    def copy(self, name: str) -> None:
        """Copy a file or folder from the checkout where it differs, so that little is rebuilt."""
        copied = set()
        for path in [ROOT / name, *(ROOT / name).rglob("*")]:
            to = self.folder / path.relative_to(ROOT)
            copied.add(to)
            if path.is_dir():
                to.mkdir(parents=True, exist_ok=True)
            elif path.is_file() and not (to.exists() and to.read_bytes() == path.read_bytes()):
                shutil.copyfile(path, to)
        for path in (self.folder / name).rglob("*"):
            if path.is_file() and path not in copied:
                path.unlink()

    def write(self, mutant: Mutant | None) -> None:
        """Apply a mutant to the code as it is."""
        if self.mutated is not None:
            path = self.folder / INCLUDE / self.mutated
            path.write_text(self.targets.text[self.mutated])
        self.mutated = mutant.file if mutant else None
        if mutant:
            lines = self.targets.text[mutant.file].splitlines(keepends=True)
            lines[mutant.line - 1] = f"{mutant.mutated}\n"
            (self.folder / INCLUDE / mutant.file).write_text("".join(lines))

    def make(self, test: str) -> tuple[int | None, str]:
        """Build a test."""
        command = ["cmake", "--build", str(self.build), "--target", test, "-j1"]
        return run(command, BUILD_TIMEOUT)

    def test(self, test: str, timeout: float) -> tuple[int | None, str]:
        """Run a test up to its first failure; return its status and the case that failed."""
        arguments = self.targets.config["arguments"].get(test, [])
        command = [str(self.build / test), "--gtest_break_on_failure", *arguments]
        status, output = run(command, timeout, preexec_fn=limit)
        cases = re.findall(r"\[ RUN      \] (\S+)", output)
        return status, f"{test}: {cases[-1] if cases else 'no case'}"

    def command(self, command: dict[str, Any]) -> int | None:
        """Run one of the further commands."""
        words = [sys.executable if w == "python" else w for w in command["command"]]
        return run(words, BUILD_TIMEOUT, cwd=self.folder)[0]

    def compiled(self, *words: str) -> tuple[int | None, str]:
        """Run the compiler with optimisation."""
        command = self.compile[self.targets.tests()[0]]
        command = [w for w in command[: command.index("-o")] if w != "-O0"]
        return run([*command, *words], BUILD_TIMEOUT, cwd=self.folder)

    def instances(self) -> str | None:
        """Return the machine code of all that is mutated; None if it does not compile."""
        status, output = self.compiled("-O2", "-S", "-o", "-", "src_cpp/mutation/instances.cpp")
        return output if status == 0 else None

    def false_free(self, mutant: Mutant, pairs: int) -> list[int] | None:
        """Return how many FREE answers to some pairs are false, and how many the checker accepts.

        None: the program does not compile, or it did not end.
        """
        self.write(mutant)
        program = self.build / "certificates"
        words = ["-O1", "-Isrc_cpp", "-Isrc_cpp/verify", "src_cpp/mutation/certificates.cpp"]
        words += ["src_cpp/proofs/checker/free_certificate.c", "-o", str(program)]
        words += ["-lgmpxx", "-lgmp"]
        status, _ = self.compiled(*words)
        if status != 0:
            return None
        status, output = run([str(program), str(pairs)], BUILD_TIMEOUT, preexec_fn=limit)
        return [int(word) for word in output.split()] if status == 0 else None

    def optimised(self, mutant: Mutant) -> str:
        """Return what the optimiser makes of a mutant: invalid, equivalent or survived."""
        if self.plain is None:
            self.write(None)
            self.plain = self.instances()
        self.write(mutant)
        code = self.instances()
        return "invalid" if code is None else "equivalent" if code == self.plain else "survived"


class Runner:
    """Tests mutants in several trees at once, and keeps the results."""

    def __init__(self, targets: Targets, trees: list[Tree], results: Path) -> None:
        self.targets = targets
        self.results = results
        self.trees: queue.Queue[Tree] = queue.Queue()
        for tree in trees:
            self.trees.put(tree)
        self.lock = threading.Lock()
        self.timeouts: dict[str, float] = {}  # s, of the tests; set before the first mutant
        self.known: dict[str, dict[str, Any]] = {}
        if results.exists():
            lines = results.read_text().splitlines()
            self.known = {record["key"]: record for record in map(json.loads, lines)}

    def baseline(self, tree: Tree) -> dict[str, float]:
        """Run all tests on the code as it is; return the time limit of each (s)."""
        timeouts = {}
        for test in self.targets.tests():
            begin = time.monotonic()
            status, output = tree.make(test)
            if status != 0:
                raise SystemExit(f"{output}\n{test} does not build")
            built = time.monotonic()
            status, case = tree.test(test, BUILD_TIMEOUT)
            if status != 0:
                raise SystemExit(f"{case} fails without a mutant")
            end = time.monotonic()
            timeouts[test] = 10.0 + 10.0 * (end - built)
            print(f"{test}: built in {built - begin:.1f} s, passes in {end - built:.1f} s")
        for command in self.targets.commands:
            if tree.command(command) != 0:
                raise SystemExit(f"{command['name']} fails without a mutant")
        if tree.instances() is None:
            raise SystemExit("src_cpp/mutation/instances.cpp does not compile without a mutant")
        return timeouts

    def judge(self, tree: Tree, mutant: Mutant) -> tuple[str, str]:
        """Return the result of a mutant, and what killed it."""
        tree.write(mutant)
        for test in self.targets.files[mutant.file]["tests"]:
            if tree.make(test)[0] != 0:
                return "invalid", ""
            status, case = tree.test(test, self.timeouts[test])
            if status != 0:
                return ("timeout" if status is None else "killed"), case
        for command in self.targets.commands:
            if tree.command(command) != 0:
                return "killed", command["name"]
        return tree.optimised(mutant), ""

    def result(self, mutant: Mutant) -> dict[str, Any]:
        """Return the record of a mutant; test it if it is not known."""
        if mutant.key in self.known:
            return self.known[mutant.key]
        tree = self.trees.get()
        try:
            with self.lock:
                if not self.timeouts:
                    self.timeouts = self.baseline(tree)
            begin = time.monotonic()
            result, by = self.judge(tree, mutant)
        finally:
            self.trees.put(tree)
        record = dataclasses.asdict(mutant) | {"result": result, "by": by}
        record["seconds"] = round(time.monotonic() - begin, 1)
        with self.results.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(f"{result:10} {mutant.file}:{mutant.line} {record['mutated']!r} {by}", flush=True)
        return record

    def sample(self, file: str, count: int, seed: int) -> list[dict[str, Any]]:
        """Return the records of mutants of a file in random order.

        As many are drawn as `count` needs that compile and change a result.
        """

        def counts(record: dict[str, Any]) -> bool:
            if record["result"] == "survived":
                return self.targets.reason(record)[0] != "no effect"
            return record["result"] in KILLED

        mutants = self.targets.mutants(file)
        random.Random(f"{seed} {file}").shuffle(mutants)
        records: list[dict[str, Any]] = []
        with concurrent.futures.ThreadPoolExecutor(self.trees.qsize()) as pool:
            while len(records) < len(mutants):
                counted = sum(map(counts, records))
                if counted == count:
                    break
                batch = mutants[len(records) : len(records) + count - counted]
                records += pool.map(self.result, batch)
        return records


def report(targets: Targets, records: list[dict[str, Any]], seed: int) -> bool:
    """Print the table and the survivors; return whether enough mutants were killed."""
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    survivors: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for r in records:
        outcome = "killed" if r["result"] in KILLED else r["result"]
        if outcome == "survived":
            outcome, reason = targets.reason(r)
            change = f"`{r['original']}` -> `{r['mutated']}`"
            survivors[outcome].append(f"- `{r['file']}:{r['line']}` {change}: {reason}")
        counts[r["file"], outcome] += 1
        counts["all", outcome] += 1
    columns = ["killed", *KINDS[1:], "all", "killed, %", "replaced: invalid", "no effect"]
    print(f"\n| file | {' | '.join(columns)} |\n|---{'|---:' * len(columns)}|")
    for file in [*targets.files, "all"]:
        shown = [counts[file, outcome] for outcome in ("killed", *KINDS[1:])]
        killed, total = shown[0], sum(shown)
        share = 100 * killed / max(1, total)
        no_effect = counts[file, "equivalent"] + counts[file, "no effect"]
        cells = [*shown, total, f"{share:.0f}", counts[file, "invalid"], no_effect]
        print(f"| `{file}` | {' | '.join(map(str, cells))} |")
    print(
        f"\nSeed {seed}: {killed} of {total} mutants killed. Building and testing took "
        f"{sum(r['seconds'] for r in records) / 60:.0f} min. Mutants that do not compile, or that "
        "change no result, were replaced by others. src_cpp/mutation/targets.yaml names the code "
        "that is not mutated."
    )
    for kind, lines in survivors.items():
        print(f"\nSurvivors, {kind}:", *lines or ["none"], sep="\n")
    is_enough = (
        share >= 100 * LEAST_SCORE or len(targets.files) == 1
    )  # few, of which some have a reason
    return is_enough and not survivors["unexplained"]


def ask_checker(targets: Targets, tree: Tree, options: argparse.Namespace) -> bool:
    """Print how many FREE answers of mutants are false; return whether the checker accepts none.

    The mutants are of the code that answers for pairs. Their tests do not run: the truth is that
    of gjk_verify.
    """
    files = [f for f in targets.files if f.startswith(("certificate", "narrow/", "shape/"))]
    mutants = [mutant for file in files for mutant in targets.mutants(file)]
    random.Random(options.seed).shuffle(mutants)
    asked, wrong, answers, accepted = 0, 0, 0, 0
    for mutant in mutants:
        if asked == options.count:
            break
        found = tree.false_free(mutant, options.checker)
        if found is None:
            continue
        asked += 1
        wrong += found[0] > 0
        answers += found[0]
        accepted += found[1]
        text = f"{mutant.file}:{mutant.line} {mutant.mutated!r}"
        print(f"falsely FREE: {found[0]:6}, accepted: {found[1]} {text}", flush=True)
    print(
        f"{asked} mutants. {wrong} of them give {answers} FREE answers that are false. The "
        f"checker accepts {accepted} certificates of contacts."
    )
    return accepted == 0


def main() -> int:
    """Draw the mutants, test them and print the results."""
    parser = argparse.ArgumentParser(prog="./dev mutate cpp", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the random sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tested at once")
    parser.add_argument("--one-file", action="store_true", help="mutants of one file only")
    parser.add_argument(
        "--checker", type=int, default=0, metavar="PAIRS",
        help="run no tests, but ask the checker about false FREE answers to pairs of each type",
    )  # fmt: skip
    parser.add_argument("--folder", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    targets = Targets()
    if options.one_file:  # and its tests: the seed chooses it
        file = random.Random(options.seed).choice(sorted(targets.files))
        targets.files = {file: targets.files[file]}
    if options.checker:
        return 0 if ask_checker(targets, Tree(options.folder / "tree0", targets), options) else 1
    trees = [Tree(options.folder / f"tree{i}", targets) for i in range(options.jobs)]
    runner = Runner(targets, trees, options.results)
    records = []
    for file, count in targets.quotas(options.count).items():
        records += runner.sample(file, count, options.seed)
    return 0 if report(targets, records, options.seed) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Change one line of an engine or a judge at a time; see whether a test notices.

Cosmic Ray makes the mutants. Each part in `PARTS` gets a few, drawn by a fixed seed,
the tests nearest to it, and a time cap. The run fails if too few mutants are killed,
of a part or of all. Each mutant runs in a copy of the checkout under ``build/``.
Kernels run interpreted: a change of a kernel is then seen at once, not after a
compilation.

``--changed`` tries the parts that changed since the nightly run, which tries all of
them, passed last (`tools.nightly_passed`): a module or one of their own tests differs.
Of more than `MOST_PARTS`, those with the most changed files are tried, and the night
tries the others. If no such commit is known, or one of the files in `SELF` differs,
`MOST_PARTS` are drawn.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from xml.etree import ElementTree

from tools.mutants import KILLED, SURVIVED, Mutant, MutantVerdict, mutants_of
from tools.mutation_parts import PARTS, MutationPart, changed_parts
from tools.nightly_passed import (
    NotComparableError,
    files_changed_since,
    passed_commit,
)

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "build" / "mutation" / str(os.getpid())
LEFT_OUT = (".*", "build", "out", "dist", "__pycache__", "benchmarks")
TIMES = "times.xml"
QUICK = "not heavy and not nightly"
"""The marks of the tests that are run."""
MUTANTS = 12
"""How many mutants of each part are drawn."""
LEAST = 4
"""Of fewer mutants tried, the killed share says nothing: the part fails."""
PATIENCE = 4
"""How many times its cap a part may take until that many are tried."""
FLOOR_OF_PART = 0.25
"""Share of a part's mutants that have to be killed: low, because few are tried, and
some cannot be told from the original (a bound on work, a faster path)."""
FLOOR = 0.6
"""Share of all mutants tried that have to be killed, in a run of all parts. A run of
some parts has only their own floors: parts differ, and some kill less than this."""
MOST_PARTS = 4
"""How many parts ``--changed`` tries: a minute each on two cores."""
SELF = ("tools/mutants.py", "tools/mutation.py", "tools/mutation_parts.py")
"""Values that decide which mutants are tried, and how."""
QUICKLY = {
    "NUMBA_DISABLE_JIT": "1",
    "ORACLE_FIRST_SEED": "0",
    "ORACLE_INSTANCES": "100",
    "ORACLE_PROFILE": "sample",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""How the tests run on a mutant: interpreted, with little left to chance (the same at
night), and without bytecode, which could be another mutant's (also in the processes
that tests start)."""


class TimeUpError(Exception):
    """The time of a part is up while its tests run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOutcome:
    """Results of the mutants drawn from one part."""

    part: MutationPart
    drawn: int
    verdicts: tuple[MutantVerdict, ...]

    @property
    def survivors(self) -> list[MutantVerdict]:
        """The mutants that no test noticed, in the order of their lines."""
        alive = [verdict for verdict in self.verdicts if verdict.outcome == SURVIVED]
        return sorted(
            alive, key=lambda verdict: (verdict.mutant.file, verdict.mutant.line)
        )

    @property
    def killed(self) -> int:
        """The number of mutants that a test noticed."""
        return len(self.verdicts) - len(self.survivors)

    @property
    def is_enough(self) -> bool:
        """Whether enough mutants were tried, and enough of them killed."""
        return not self.is_short and self.killed >= FLOOR_OF_PART * self.tried

    @property
    def is_short(self) -> bool:
        """Whether too few mutants were tried to judge the part."""
        return self.tried < min(LEAST, self.drawn)

    @property
    def tried(self) -> int:
        """The number of mutants that were tried before the time was up."""
        return len(self.verdicts)

    def lines(self) -> Iterator[str]:
        """Yield each survivor with its change, then the counts."""
        for survivor in self.survivors:
            yield f"survived: {survivor.mutant.file}:{survivor.mutant.line}"
            yield survivor.change
        share = f"{self.killed / self.tried:.0%}" if self.tried else "nothing"
        judged = " (too few to judge)" if self.is_short else ""
        yield (
            f"mutation: {self.part.folder}/: {self.tried} tried, {self.killed} killed, "
            f"{len(self.survivors)} survived, {self.drawn - self.tried} out of time; "
            f"{share} killed, floor {FLOOR_OF_PART:.0%}{judged}"
            f"{'' if self.is_enough else ': FAILED'}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A copy of the checkout in which one mutant at a time is tried."""

    folder: Path

    @classmethod
    def opened(cls, number: int) -> Workshop:
        """Copy the checkout aside."""
        folder = COPIES / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
        return cls(folder=folder)

    def test(self, tests: Sequence[str], limit: float, deadline: float) -> int | None:
        """Run some tests; return pytest's exit code, None when they took too long.

        Raises
        ------
        TimeUpError
            If the deadline came before the limit.
        """
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header"]
        command += ["-p", "no:cacheprovider", "-m", QUICK, "--junitxml", TIMES]
        command += tests
        left = deadline - time.monotonic()
        with (
            (self.folder / "pytest.log").open("wb") as log,
            subprocess.Popen(
                command,
                cwd=self.folder,
                env=os.environ | QUICKLY | {"PYTHONPATH": str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as running,
        ):
            try:
                return running.wait(timeout=max(0.0, min(limit, left)))
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, 9)
                if left < limit:
                    raise TimeUpError from None
                return None

    def quickest_first(self) -> list[str]:
        """Return the test files of the last run in the order of the time they took.

        Those of a folder stay together, folders in the order of their quickest file:
        pytest 9.1 has lost the fixtures of a folder's conftest.py when it comes back
        to that folder from one above (pytest-dev/pytest#14635).
        """
        took: dict[Path, float] = {}
        for case in ElementTree.parse(self.folder / TIMES).iter("testcase"):  # noqa: S314
            file = Path(case.get("classname", "").replace(".", "/") + ".py")
            if (self.folder / file).exists():
                took[file] = took.get(file, 0.0) + float(case.get("time", 0))
        least: dict[Path, float] = {}
        for file, seconds in took.items():
            for path in (file, *file.parents):
                least[path] = min(seconds, least.get(path, seconds))

        def rank(file: Path) -> list[tuple[float, str]]:
            paths = [*reversed(file.parents), file]
            return [(least[path], path.as_posix()) for path in paths]

        return [file.as_posix() for file in sorted(took, key=rank)]

    def try_mutant(
        self, mutant: Mutant, tests: Sequence[str], limit: float, deadline: float
    ) -> MutantVerdict:
        """Put the mutant in the original's place for one run of the tests.

        Tests that take longer than the limit have noticed it: it never ends.
        """
        file = self.folder / mutant.file
        original = file.read_text(encoding="utf-8")
        changed = mutant.code(original)
        file.write_text(changed, encoding="utf-8")
        try:
            code = self.test(tests, limit, deadline)
        finally:
            file.write_text(original, encoding="utf-8")
        return MutantVerdict(
            mutant=mutant,
            outcome=SURVIVED if code == 0 else KILLED,
            change=mutant.change(original, changed),
        )


def modules_of(part: MutationPart, root: Path = ROOT) -> list[Path]:
    """Return the modules of a part, relative to the root, in the order of names."""
    found = (path.relative_to(root) for path in (root / part.folder).rglob("*.py"))
    return sorted(module for module in found if part.has_module(module))


def sample(
    part: MutationPart, count: int, seed: int, root: Path = ROOT
) -> list[Mutant]:
    """Draw mutants of a part by the seed, each at another place."""
    draw = random.Random(seed)  # noqa: S311  # a sample, not a secret
    places = [
        mutants
        for file in modules_of(part, root)
        for mutants in mutants_of(file, (root / file).read_text("utf-8"))
    ]
    drawn = draw.sample(places, min(count, len(places)))
    return [draw.choice(mutants) for mutants in drawn]


def tried(
    shop: Workshop, part: MutationPart, mutants: Iterable[Mutant], seconds: float
) -> Iterator[MutantVerdict]:
    """Try mutants in turn until the time is up; the first ones have more time.

    Raises
    ------
    SystemExit
        If the tests fail unchanged: then no mutant can be told from the original.
    """
    started = time.monotonic()
    deadline = started + PATIENCE * seconds
    try:
        code = shop.test([*part.tests, *part.left_out], float("inf"), deadline)
        took = time.monotonic() - started
        if code != 0:
            log = (shop.folder / "pytest.log").read_text(errors="replace")
            print(f"{log[-3000:]}\nmutation: {part.folder}/: tests fail unchanged")
            raise SystemExit(1)
        tests = [*shop.quickest_first(), *part.left_out]
        for number, mutant in enumerate(mutants):
            if number == LEAST:
                deadline = started + seconds
            yield shop.try_mutant(mutant, tests, 10 + 2 * took, deadline)
    except TimeUpError:
        return


def try_part(
    shop: Workshop, part: MutationPart, mutants: list[Mutant], seconds: float
) -> PartOutcome:
    """Try the mutants of a part within its time, and print their results."""
    verdicts = tuple(tried(shop, part, mutants, seconds))
    outcome = PartOutcome(part=part, drawn=len(mutants), verdicts=verdicts)
    print(*outcome.lines(), sep="\n", flush=True)
    return outcome


def try_parts(
    parts: Sequence[MutationPart], arguments: argparse.Namespace
) -> list[PartOutcome]:
    """Try a sample of mutants of some parts, of as many at a time as there are workers.

    Each worker has a copy of the checkout, which is removed at the end.
    """
    shops: SimpleQueue[Workshop] = SimpleQueue()
    for number in range(arguments.workers):
        shops.put(Workshop.opened(number))

    def try_in_turn(part: MutationPart) -> PartOutcome:
        shop = shops.get()
        try:
            mutants = sample(part, arguments.mutants, arguments.seed)
            return try_part(shop, part, mutants, arguments.seconds or part.seconds)
        finally:
            shops.put(shop)

    try:
        with ThreadPoolExecutor(arguments.workers) as pool:
            return list(pool.map(try_in_turn, parts))
    finally:
        shutil.rmtree(COPIES, ignore_errors=True)


def parts_since_passed(
    seed: int, root: Path = ROOT
) -> tuple[Sequence[MutationPart], str]:
    """Return the parts to try since the nightly run passed, and a line on why."""
    few = random.Random(seed).sample(PARTS, MOST_PARTS)  # noqa: S311
    words = f"mutation: {MOST_PARTS} of all {len(PARTS)} parts"
    try:
        commit = passed_commit(root)
        files = files_changed_since(commit, root)
    except NotComparableError as error:
        return few, f"{words} ({_names(few)}): {error}"
    since = f"changed since {commit[:7]}"
    if own := [name for name in SELF if Path(name) in files]:
        return few, f"{words} ({_names(few)}): {', '.join(own)} {since}"
    parts = changed_parts(files)
    if not parts:
        return parts, f"mutation: no part {since}: nothing to try"
    line = f"mutation: {len(parts)} of {len(PARTS)} parts {since}: {_names(parts)}"
    if len(parts) > MOST_PARTS:
        parts = sorted(parts, key=lambda part: -part.count_files(files))[:MOST_PARTS]
        line += f"; those with the most changed files are tried: {_names(parts)}"
    return parts, line


def _names(parts: Iterable[MutationPart]) -> str:
    return ", ".join(part.folder for part in parts)


def judge(outcomes: Sequence[PartOutcome], seed: int) -> int:
    """Print how many mutants were killed; return 1 if a floor is not met, else 0."""
    n_tried = sum(outcome.tried for outcome in outcomes)
    n_killed = sum(outcome.killed for outcome in outcomes)
    is_all = len(outcomes) == len(PARTS)
    is_enough = n_tried > 0 and (not is_all or n_killed >= FLOOR * n_tried)
    floor = f"floor {FLOOR:.0%}" if is_all else "floors of the parts alone"
    print(
        f"mutation: {n_tried} tried, {n_killed} killed, {floor}, "
        f"seed {seed}{'' if is_enough else ': FAILED'}"
    )
    return 0 if is_enough and all(outcome.is_enough for outcome in outcomes) else 1


def main() -> int:
    """Try a sample of mutants of each part; fail where too few are killed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("parts", nargs="*", help="folders; default: every part")
    parser.add_argument(
        "--changed", action="store_true", help="those since the nightly run passed"
    )
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="per part")
    parser.add_argument("--seconds", type=float, help="cap per part, for all parts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    arguments = parser.parse_args()
    parts: Sequence[MutationPart] = PARTS
    if arguments.parts:
        parts = [part for part in PARTS if part.folder in arguments.parts]
    if arguments.changed:
        if arguments.parts:
            parser.error("--changed selects the parts: name none")
        parts, why = parts_since_passed(arguments.seed, ROOT)
        print(why, flush=True)
        if not parts:
            return 0
    return judge(try_parts(parts, arguments), arguments.seed)


if __name__ == "__main__":
    sys.exit(main())

"""Change one line of an engine or of the judge at a time; see whether a test notices.

Cosmic Ray makes the mutants. Each part in `PARTS` gets a few, drawn by a fixed seed,
the tests nearest to it, and a time cap. The run fails if too few mutants are killed,
of a part or of all. Each mutant runs in a copy of the checkout under ``build/``.
Kernels run interpreted: a change of a kernel is then seen at once, not after a
compilation.
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

from tools.mutants import KILLED, SURVIVED, Mutant, Verdict, mutants_of
from tools.mutation_parts import PARTS, Part

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "build" / "mutation" / str(os.getpid())
LEFT_OUT = (".*", "build", "out", "dist", "__pycache__", "benchmarks")
TIMES = "times.xml"
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
"""Share of all mutants tried that have to be killed."""
QUICKLY = {
    "NUMBA_DISABLE_JIT": "1",
    "ORACLE_INSTANCES": "100",
    "ORACLE_PROFILE": "sample",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""How the tests run on a mutant: interpreted, with little left to chance, and without
bytecode, which could be another mutant's (also in the processes that tests start)."""


class TimeUpError(Exception):
    """The time of a part is up while its tests run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the mutants drawn from one part."""

    part: Part
    drawn: int
    verdicts: tuple[Verdict, ...]

    @property
    def survivors(self) -> list[Verdict]:
        """The mutants that no test noticed, in the order of their lines."""
        alive = [one for one in self.verdicts if one.outcome == SURVIVED]
        return sorted(alive, key=lambda one: (one.mutant.file, one.mutant.line))

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
        for one in self.survivors:
            yield f"survived: {one.mutant.file}:{one.mutant.line}"
            yield one.change
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
        command += ["-p", "no:cacheprovider", "-m", "not slow", "--junitxml", TIMES]
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
        """Return the test files of the last run in the order of the time they took."""
        took: dict[str, float] = {}
        for case in ElementTree.parse(self.folder / TIMES).iter("testcase"):  # noqa: S314
            name = case.get("classname", "").replace(".", "/") + ".py"
            if (self.folder / name).exists():
                took[name] = took.get(name, 0.0) + float(case.get("time", 0))
        return sorted(took, key=lambda name: took[name])

    def try_mutant(
        self, mutant: Mutant, tests: Sequence[str], limit: float, deadline: float
    ) -> Verdict:
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
        return Verdict(
            mutant=mutant,
            outcome=SURVIVED if code == 0 else KILLED,
            change=mutant.change(original, changed),
        )


def modules_of(part: Part, root: Path = ROOT) -> list[Path]:
    """Return the modules of a part, relative to the root, in the order of names."""
    parts = [one.folder for one in PARTS if one.folder.startswith(f"{part.folder}/")]
    found = (path.relative_to(root) for path in (root / part.folder).rglob("*.py"))
    return sorted(
        module
        for module in found
        if not any(module.is_relative_to(folder) for folder in parts)
    )


def sample(part: Part, count: int, seed: int, root: Path = ROOT) -> list[Mutant]:
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
    shop: Workshop, part: Part, mutants: Iterable[Mutant], seconds: float
) -> Iterator[Verdict]:
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
    shop: Workshop, part: Part, mutants: list[Mutant], seconds: float
) -> Outcome:
    """Try the mutants of a part within its time, and print what became of them."""
    verdicts = tuple(tried(shop, part, mutants, seconds))
    outcome = Outcome(part=part, drawn=len(mutants), verdicts=verdicts)
    print(*outcome.lines(), sep="\n", flush=True)
    return outcome


def main() -> int:
    """Try a sample of mutants of each part; fail where too few are killed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("parts", nargs="*", help="folders; default: every part")
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="per part")
    parser.add_argument("--seconds", type=float, help="cap per part, for all parts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    arguments = parser.parse_args()
    parts = [p for p in PARTS if not arguments.parts or p.folder in arguments.parts]
    shops: SimpleQueue[Workshop] = SimpleQueue()
    for number in range(arguments.workers):
        shops.put(Workshop.opened(number))

    def try_in_turn(part: Part) -> Outcome:
        shop = shops.get()
        try:
            mutants = sample(part, arguments.mutants, arguments.seed)
            return try_part(shop, part, mutants, arguments.seconds or part.seconds)
        finally:
            shops.put(shop)

    try:
        with ThreadPoolExecutor(arguments.workers) as pool:
            outcomes = list(pool.map(try_in_turn, parts))
    finally:
        shutil.rmtree(COPIES, ignore_errors=True)
    n_tried = sum(one.tried for one in outcomes)
    n_killed = sum(one.killed for one in outcomes)
    is_enough = n_tried > 0 and n_killed >= FLOOR * n_tried
    print(
        f"mutation: {n_tried} tried, {n_killed} killed, floor {FLOOR:.0%}, "
        f"seed {arguments.seed}{'' if is_enough else ': FAILED'}"
    )
    return 0 if is_enough and all(one.is_enough for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

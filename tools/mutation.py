"""Change one line of an engine or of the judge at a time; see whether a test notices.

Cosmic Ray makes the mutants. A fixed seed puts the places in a fixed order; how many
are tried is a matter of time. Each runs in a copy of the checkout under ``build/``,
against the tests of its own package. Kernels run interpreted: a change of a kernel is
then seen at once, not after a compilation.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from queue import Empty, SimpleQueue
from xml.etree import ElementTree

from tools.mutants import KILLED, SURVIVED, Mutant, Verdict, mutants_of

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "build" / "mutation"
LEFT_OUT = (".*", "build", "out", "dist", "__pycache__", "benchmarks")
PACKAGES = {
    "solver": ["test_core.py", "test_certificate.py", "flow_policies", "../policy"],
    "verify": ["."],
}
"""What is changed, and which of its tests meet the mutants."""
BESIDE = {"cpsat", "milp", "peak_lag", "pareto"}
"""Engines of ``solver`` that are left out: a run of their tests takes minutes when the
kernels are interpreted. They are held against each other and against brute force."""
TIMES = "times.xml"
QUICKLY = {
    "NUMBA_DISABLE_JIT": "1",
    "ORACLE_INSTANCES": "100",
    "ORACLE_PROFILE": "sample",
}
"""How the tests run on a mutant: interpreted, with little left to chance."""


class TimeUpError(Exception):
    """The time is up while a mutant runs: it counts as not tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which tests a mutant meets, the quickest first, and for how many seconds."""

    tests: list[str]
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """A copy of the checkout in which one mutant at a time is tried."""

    folder: Path
    deadline: float

    @classmethod
    def opened(cls, number: int, deadline: float) -> Workshop:
        """Copy the checkout aside."""
        folder = COPIES / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
        return cls(folder=folder, deadline=deadline)

    def test(self, what: Sequence[str], limit: float) -> int | None:
        """Run some tests; return pytest's exit code, None when they took too long.

        Raises
        ------
        TimeUpError
            If the whole sample's time ended first.
        """
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "--no-header"]
        command += ["-p", "no:cacheprovider", "-m", "not slow", "--junitxml", TIMES]
        command += what
        left = self.deadline - time.monotonic()
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=os.environ | QUICKLY | {"PYTHONPATH": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=(self.folder / "pytest.log").open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as tests:
            try:
                return tests.wait(timeout=max(0.0, min(limit, left)))
            except subprocess.TimeoutExpired:
                os.killpg(tests.pid, 9)
                if left < limit:
                    raise TimeUpError from None
                return None

    def quickest_first(self) -> list[str]:
        """Return the test files of the last run in the order of the time they took."""
        took: dict[str, float] = {}
        for case in ElementTree.parse(self.folder / TIMES).iter("testcase"):  # noqa: S314
            name = case.get("classname", "").replace(".", "/") + ".py"
            took[name] = took.get(name, 0.0) + float(case.get("time", 0))
        return sorted(took, key=lambda name: took[name])

    def try_mutant(self, mutant: Mutant, plan: Plan) -> Verdict:
        """Put the mutant in the original's place for one run of the tests."""
        file = self.folder / mutant.file
        original = file.read_text(encoding="utf-8")
        changed = mutant.code(original)
        file.write_text(changed, encoding="utf-8")
        try:
            code = self.test(plan.tests, plan.limit)
        finally:
            file.write_text(original, encoding="utf-8")
        outcome = SURVIVED if code == 0 else KILLED
        change = mutant.change(original, changed)
        return Verdict(mutant=mutant, outcome=outcome, change=change)


def sample(seed: int) -> list[Mutant]:
    """Return one mutant of every place that can be changed, in the seed's order.

    The packages take turns, so that a sample cut short is fair to each.
    """
    draw = random.Random(seed)  # noqa: S311  # a sample, not a secret
    drawn = []
    for package in PACKAGES:
        places = [
            mutants
            for file in sorted((ROOT / package).rglob("*.py"))
            if not BESIDE & set(file.relative_to(ROOT).parts)
            for mutants in mutants_of(file.relative_to(ROOT), file.read_text("utf-8"))
        ]
        draw.shuffle(places)
        drawn.append([draw.choice(mutants) for mutants in places])
    return [mutant for turn in zip_longest(*drawn) for mutant in turn if mutant]


def plans(shop: Workshop) -> dict[str, Plan]:
    """Run the tests of the unchanged packages; return how mutants of each are tried.

    Raises
    ------
    SystemExit
        If they fail: then no mutant can be told from the original.
    """
    made = {}
    for package, names in PACKAGES.items():
        started = time.monotonic()
        tests = [f"tests/{package}/{name}" for name in names]
        code = shop.test(tests, limit=float("inf"))
        took = time.monotonic() - started
        if code != 0:
            log = (shop.folder / "pytest.log").read_text(errors="replace")
            print(f"{log[-3000:]}\nmutation: the tests of {package}/ fail unchanged")
            raise SystemExit(1)
        print(f"mutation: tests of {package}/ take {took:.0f} s unchanged", flush=True)
        made[package] = Plan(tests=shop.quickest_first(), limit=10 + 2 * took)
    return made


def work(
    shop: Workshop, queue: SimpleQueue[Mutant], planned: dict[str, Plan]
) -> Iterator[Verdict]:
    """Try mutants until none is left or the time is up."""
    while time.monotonic() < shop.deadline:
        try:
            mutant = queue.get_nowait()
            yield shop.try_mutant(mutant, planned[mutant.package])
        except (Empty, TimeUpError):
            return


def report(verdicts: list[Verdict], places: int, seed: int) -> None:
    """Print each survivor, then the counts and the surviving share."""
    survivors = [verdict for verdict in verdicts if verdict.outcome == SURVIVED]
    for verdict in sorted(survivors, key=lambda v: (v.mutant.file, v.mutant.line)):
        print(f"survived: {verdict.mutant.file}:{verdict.mutant.line}")
        print(verdict.change)
    for package in (*PACKAGES, ""):
        tried = [v for v in verdicts if package in ("", v.mutant.package)]
        alive = [v for v in survivors if package in ("", v.mutant.package)]
        share = f"{len(alive) / len(tried):.1%}" if tried else "nothing"
        print(
            f"mutation: {package + '/' if package else 'in all'}: {len(tried)} tried, "
            f"{len(tried) - len(alive)} killed, {len(alive)} survived ({share})"
        )
    print(f"mutation: {len(verdicts)} of {places} places tried, seed {seed}")


def main() -> int:
    """Try a sample of mutants within a time."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seconds", type=float, default=420, help="time for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    places = sample(arguments.seed)
    queue: SimpleQueue[Mutant] = SimpleQueue()
    for mutant in places:
        queue.put(mutant)
    shops = [Workshop.opened(n, deadline) for n in range(arguments.workers)]
    try:
        planned = plans(shops[0])
        with ThreadPoolExecutor(len(shops)) as pool:
            done = pool.map(lambda shop: list(work(shop, queue, planned)), shops)
            verdicts = [verdict for batch in done for verdict in batch]
    except TimeUpError:
        print("mutation: the unchanged tests alone take longer than --seconds")
        return 1
    finally:
        shutil.rmtree(COPIES, ignore_errors=True)
    report(verdicts, len(places), arguments.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())

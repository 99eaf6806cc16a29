"""The parts whose lines are changed, each with the tests nearest to it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

SECONDS = 70.0
"""Time cap per part, its unchanged tests included; a slow machine may take longer to
try the least number. A part runs in one process: on two cores, the fourteen parts end
within nine minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationPart:
    """A folder of modules, and the tests that have to notice a change.

    Attributes
    ----------
    folder
        The folder whose modules are changed, from the root of the checkout; those of
        a subfolder that is a part as well belong to that part.
    tests
        Folders and files of the tests nearest to it, those of a folder together
        (`tools.mutation.Workshop.quickest_first`); heavy tests are left out.
    without
        Folders, files, and tests (by the start of their names) below them that take
        long when kernels are interpreted, or need more than the few instances.
    seconds
        Time cap.
    """

    folder: str
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()
    seconds: float = SECONDS

    @property
    def left_out(self) -> list[str]:
        """The options of pytest that leave out `without`."""
        return [
            f"--deselect={name}" if "::" in name else f"--ignore={name}"
            for name in self.without
        ]

    def has_test(self, file: Path) -> bool:
        """Return whether a file is one of its tests, or lies in a folder of them.

        Files in `without` do not count; files with single tests in it do.
        """
        return _is_below(file, self.tests) and not _is_below(file, self.without)

    def has_module(self, file: Path) -> bool:
        """Return whether a file, perhaps a deleted one, is a module of the part."""
        nested = [p.folder for p in PARTS if p.folder.startswith(f"{self.folder}/")]
        is_inside = _is_below(file, [self.folder]) and not _is_below(file, nested)
        return is_inside and file.suffix == ".py"

    def count_files(self, files: Collection[Path]) -> int:
        """Return how many of some files are modules or tests of the part."""
        return sum(self.has_module(file) or self.has_test(file) for file in files)


def _is_below(file: Path, names: Collection[str]) -> bool:
    """Return whether a file is one of some files, or lies in one of some folders."""
    return any(file.is_relative_to(name) for name in names)


def changed_parts(files: Collection[Path]) -> list[MutationPart]:
    """Return the parts with a module or a test among the files that have changed."""
    return [part for part in PARTS if part.count_files(files)]


AGREE = "tests/solver/test_engines_agree.py"


def _of_others(engine: str) -> tuple[str, ...]:
    """Return the comparisons with brute force but a small one of an engine."""
    sample = f"{AGREE}::test_engines_agree_on_a_sample"
    others = [
        name for name in ("cp-sat", "flow", "highs", "peak-lag") if name != engine
    ]
    bugs = (f"{AGREE}::test_bug_an_engine_missed_the_best[{name}" for name in others)
    more = (f"{AGREE}::test_engines_agree_on_named_shapes",)
    return (*more, *bugs, *(f"{sample}[{name}]" for name in others))


PARTS = (
    MutationPart(
        folder="solver",
        tests=(
            "tests/solver/test_loaded_kernels.py",
            "tests/solver/test_results.py",
            "tests/solver/test_solving.py",
            "tests/solver/test_common_capacity.py",
            "tests/solver/test_run_limited.py",
            "tests/solver/test_limits.py",
            "tests/test_values_agree.py",
        ),
        without=(
            "tests/solver/test_common_capacity.py::test_work_is_bounded_for_many",
            "tests/solver/test_limits.py::test_a_search_is_ended",
            "tests/solver/test_limits.py::test_effort_ends_at_the_same_step",
            "tests/solver/test_limits.py::test_more_effort_is_never_worse",
        ),
    ),
    MutationPart(
        folder="solver/policy",
        tests=("tests/solver/policy", "tests/test_values_agree.py"),
    ),
    MutationPart(
        folder="solver/exact",
        tests=("tests/solver/exact",),
        without=(
            "tests/solver/exact/test_core.py::test_same_bytes_whatever_the_hash_seed_and",
        ),
    ),
    MutationPart(
        folder="solver/flow_policies",
        tests=("tests/solver/flow_policies", AGREE),
        without=(
            *_of_others("flow"),
            "tests/solver/flow_policies/test_limits.py::test_a_flow_ends_at_a",
            "tests/solver/flow_policies/test_limits.py::test_the_memory_of_the_process",
        ),
    ),
    MutationPart(
        folder="solver/cpsat",
        tests=("tests/solver/cpsat", AGREE),
        without=_of_others("cp-sat"),
    ),
    MutationPart(
        folder="solver/milp",
        tests=("tests/solver/milp", AGREE),
        without=(
            "tests/solver/milp/test_distrust.py::test_huge_lags_that_differ",
            *_of_others("highs"),
        ),
    ),
    MutationPart(
        folder="solver/peak_lag",
        tests=("tests/solver/peak_lag", AGREE),
        without=(
            *_of_others("peak-lag"),
            "tests/solver/peak_lag/test_alternate.py",
            "tests/solver/peak_lag/test_answers.py::test_uniform_lags_are",
            "tests/solver/peak_lag/test_local_search.py::test_lags_that_can_meet",
        ),
        seconds=2 * SECONDS,
    ),
    MutationPart(
        folder="solver/pareto",
        tests=("tests/solver/pareto",),
        without=(
            "tests/solver/pareto/test_frontiers.py::test_supported_plans_are_the_best",
            "tests/solver/pareto/test_frontiers.py::test_without_a_limit_the_effort_is",
        ),
    ),
    MutationPart(
        folder="solver/explanation",
        tests=(
            "tests/oracle/explanation/test_enumeration.py",
            "tests/solver/explanation",
        ),
        seconds=50.0,
    ),
    MutationPart(
        folder="heuristics",
        tests=("tests/heuristics",),
        without=(
            "tests/heuristics/group",
            "tests/heuristics/test_interpreted.py",
            "tests/heuristics/test_lag_swaps.py::test_near_the",
            "tests/heuristics/test_sticky.py::test_on_rebalances_with_many_racks",
        ),
    ),
    MutationPart(
        folder="heuristics/group",
        tests=("tests/heuristics/group",),
    ),
    MutationPart(
        folder="pipeline/judging",
        tests=("tests/pipeline/judging",),
        without=(
            "tests/pipeline/judging/test_codes.py::test_the_judge_checks_a_sample",
            "tests/pipeline/judging/test_codes.py::test_the_recording_has_equal_rows",
        ),
    ),
    MutationPart(
        folder="verify",
        tests=("tests/verify", "tests/test_readers_agree.py"),
        without=(
            "tests/verify/policy",
            "tests/verify/test_certificate.py::test_sound_for_many_seeds",
        ),
    ),
    MutationPart(
        folder="verify/policy",
        tests=(
            "tests/verify/policy",
            "tests/verify/test_bugs.py",
            "tests/verify/test_cases.py",
            "tests/verify/test_claims.py",
            "tests/test_values_agree.py",
        ),
        without=(
            "tests/verify/policy/test_answers.py::test_proofs_of_every_sort_are_often",
            "tests/verify/policy/test_brute_force.py::test_too_large_in_words",
            "tests/verify/policy/test_enumeration.py::test_as_much_as_it_takes",
            "tests/verify/policy/test_enumeration.py::test_refuses_instances_that_take_too_long",
            "tests/verify/policy/test_price_bounds.py::test_nothing_false_is_ever_proved",
        ),
    ),
)
"""Every engine, the heuristics, judging by columns, and both parts of the judge."""

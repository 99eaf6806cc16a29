"""Survey one assignor: the corpus, draws of every family, shrinking, records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.campaign import Key, drawn_key, shrunk_key
from conformance.corpus import corpus
from conformance.runs import (
    FAMILIES,
    CaseRecord,
    Category,
    DrawnOutcome,
    External,
    FamilyCounts,
    Finding,
    Recorder,
    Repeating,
    RunPlan,
    RunSummary,
    first_line,
    run_families,
    run_instances,
    subject_record,
)
from conformance.shrinking import (
    ShrinkSource,
    ShrinkTask,
    Shrunk,
    shrink_difference_task,
    shrink_task,
    shrunk_record,
)
from rebalance import plain_of, rebalance_of
from studies.survey.confirmed_hangs import Confirmed

Document = dict[str, Any]

CRASH_PATIENCE: Final = 5
"""Time to shrink a crash or a hang, in units of that for another finding.

Each starts the program anew.
"""

MOST_ELIGIBLE: Final = 1_000_000
"""Members times partitions above which rebalances of the corpus are left out.

Assignors of quadratic time miss any limit there, without being in an endless loop.
"""

LARGE: Final = 200
"""Partitions and claims above which a gap in quality is only counted.

Its record would be long, and `RunSummary` and the seed suffice to repeat it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyPlan:
    """How much to draw of each assignor, and within which limits.

    Attributes
    ----------
    count : int
        Draws per family; of families of large instances, one in `Family.share`.
    seconds : float
        Limit per answer; a later or missing answer is asked again of a patient process
        (`confirmed_hangs`).
    draw_seconds : float or None
        Limit of all draws of one assignor, after which the rest is left out.
    shrink_seconds : float
        Limit per finding.
    corpus : bool
        Whether to send the rebalances of the corpus, too (family ``file``).
    date, oracle : str
        Day of the run (UTC), and version of this program, for the records.
    """

    families: tuple[str, ...] = field(default_factory=lambda: tuple(FAMILIES))
    seed: int = 1
    count: int = 100
    seconds: float = 5.0
    draw_seconds: float | None = None
    shrink_seconds: float = 2.0
    corpus: bool = True
    date: str
    oracle: str


def survey_assignor(
    external: External, plan: SurveyPlan, *, cooperative: bool
) -> Iterator[Finding | RunSummary]:
    """Yield the findings of one assignor, then its counts per family.

    Raises
    ------
    OutsideError
        If it cannot be started, or does not answer the simplest rebalance.
    """
    external.check()
    confirmed = Confirmed(external=external)
    source = Repeating(source=confirmed) if external.can_repeat else confirmed
    client = external.client
    is_declared = client is not None and client.deterministic
    counted = _counted(source, plan, cooperative=cooperative)
    sightings = [
        sighting
        for counts in counted
        for sighting in counts.sightings
        if sighting.outcome.category.is_safety or not _is_large(sighting)
    ]
    recorder = Recorder(
        subject=subject_record(external),
        cooperative=cooperative,
        repeat=repeat_command(external, plan, cooperative=cooperative),
        date=plan.date,
        oracle=plan.oracle,
        deterministic=is_declared if external.can_repeat else None,
    )
    known: set[Key] = set()
    for sighting, small in _shrunk(source, sightings, plan, cooperative=cooperative):
        if (key := shrunk_key(sighting, small)) not in known:
            known.add(key)
            record = recorder.finding(sighting, shrunk_record(small))
            yield without_traces(record)
    for counts in counted:
        is_drawn = counts.family in FAMILIES
        seed = plan.seed if is_drawn else None
        yield recorder.summary(counts, seed=seed, first=0)


def without_traces(finding: Finding) -> Finding:
    """Return the finding with the first line of each reason.

    Stack traces state paths and addresses, which differ from run to run.
    """
    small = finding.shrunk
    shrunk = None if small is None else small.model_copy(update=_first_lines(small))
    return finding.model_copy(update=_first_lines(finding) | {"shrunk": shrunk})


def _first_lines(case: CaseRecord) -> Document:
    rounds = [round_.without_trace() for round_ in case.rounds]
    return {"reason": first_line(case.reason), "rounds": rounds}


def repeat_command(external: External, plan: SurveyPlan, *, cooperative: bool) -> str:
    """Return the command line that tests the assignor, without the options of draws."""
    rounds = "--cooperative" if cooperative else "--eager"
    limit = f"--seconds {plan.seconds:g}"
    return f"assignor-oracle fuzz {external.option} {rounds} {limit}"


def corpus_rebalances() -> Iterator[Document]:
    """Yield every readable rebalance of the corpus as it is written, unless too large.

    Capacities are left out: clients do not know them, and counts are judged.
    """
    for scenario in corpus():
        for step in scenario.steps:
            if step.unreadable is not None:
                continue
            document = plain_of(rebalance_of(step.rebalance))
            members, topics = document["members"], document["topics"].values()
            for member in members.values():
                member.pop("capacity", None)
            if len(members) * sum(t["partitions"] for t in topics) <= MOST_ELIGIBLE:
                yield document


def _counted(
    source: ShrinkSource, plan: SurveyPlan, *, cooperative: bool
) -> list[FamilyCounts]:
    runs = RunPlan(
        families=plan.families,
        seed=plan.seed,
        count=plan.count,
        seconds=plan.draw_seconds,
        cooperative=cooperative,
    )
    given = [run_instances(source, corpus_rebalances(), runs)] if plan.corpus else []
    return [*run_families(source, runs).values(), *given]


def _shrunk(
    source: ShrinkSource,
    sightings: Sequence[DrawnOutcome],
    plan: SurveyPlan,
    *,
    cooperative: bool,
) -> Iterator[tuple[DrawnOutcome, Shrunk]]:
    """Shrink the smallest of those that are equal as far as is known before."""
    with closing(source.start()) as subject:
        for sighting in _smallest(sightings):
            ends = sighting.outcome.category in {Category.CRASH, Category.HANG}
            task = ShrinkTask(
                sighting=sighting,
                external=source,
                cooperative=cooperative,
                seconds=plan.shrink_seconds * (CRASH_PATIENCE if ends else 1),
            )
            if sighting.outcome.category is Category.NONDETERMINISTIC:
                yield shrink_difference_task(subject, task)
            else:
                yield sighting, shrink_task(subject, task)


def _smallest(sightings: Iterable[DrawnOutcome]) -> Iterable[DrawnOutcome]:
    found: dict[Key, DrawnOutcome] = {}
    for sighting in sightings:
        best = found.setdefault(drawn_key(sighting), sighting)
        if _size(sighting) < _size(best):
            found[drawn_key(sighting)] = sighting
    return found.values()


def _size(sighting: DrawnOutcome) -> int:
    """Count partitions, members, and claims."""
    rebalance = sighting.outcome.rounds[0].rebalance
    members = rebalance["members"].values()
    claims = sum(len(ns) for m in members for ns in m.get("owned", {}).values())
    partitions = sum(int(t["partitions"]) for t in rebalance["topics"].values())
    return partitions + len(members) + claims


def _is_large(sighting: DrawnOutcome) -> bool:
    return _size(sighting) > LARGE

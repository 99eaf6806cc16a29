"""Checks of a subject on random rebalances of a family, and under churn."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.check import Check
from conformance.runs import Family, Subject, drawn_outcomes


def family_checks(
    subject: Subject,
    family: Family,
    *,
    seed: int,
    count: int,
    cooperative: bool = False,
) -> Iterator[Check]:
    """Draw rebalances; yield a check per rebalance, named ``seed/index/step``.

    Of families of large instances, one draw in `Family.share` is made. Under churn, the
    subject's last answer becomes the next claim; a fault of safety ends the draw.
    """
    for index in range(-(-count // family.share)):
        yield from draw_checks(subject, family, seed, index, cooperative=cooperative)


def draw_checks(
    subject: Subject,
    family: Family,
    seed: int,
    index: int,
    *,
    cooperative: bool = False,
) -> Iterator[Check]:
    """Yield the checks of one draw; see `family_checks`."""
    outcomes = drawn_outcomes(subject, family, seed, index, cooperative=cooperative)
    for step, outcome in enumerate(outcomes):
        yield Check(part=family.name, name=f"{seed}/{index}/{step}", outcome=outcome)

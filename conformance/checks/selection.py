"""One check by its name: only the steps up to it are played again.

A name is ``PART/CHECK`` as reports state both: ``corpus/SCENARIO: STEP``, or
``FAMILY/SEED/INDEX/STEP``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from conformance.checks.check import CORPUS, Check
from conformance.checks.random_draws import draw_checks
from conformance.checks.scenario_play import corpus_checks
from conformance.corpus import corpus
from conformance.runs import Family, Subject, UnknownFamilyError, family_of
from conformance.scenario import Scenario
from rebalance import OracleError

_DRAW: Final = re.compile(r"(0|[1-9][0-9]{0,18})/(0|[1-9][0-9]{0,9})/(0|[1-9][0-9]?)")


class UnknownCheckError(OracleError, ValueError):
    """A name that no check has."""


def name_of_check(check: Check) -> str:
    """Return the name by which `selected_check` plays it again."""
    return f"{check.part}/{check.name}"


def selected_check(
    subject: Subject,
    name: str,
    *,
    algorithm: str | None = None,
    cooperative: bool = False,
) -> Check:
    """Play a scenario, or a draw, up to one check.

    The steps before it are played as well, because they decide the claims of members. A
    draw can end before the check, with a fault of safety; then that is the result.

    Raises
    ------
    UnknownCheckError
        If there is no such check; see `find_check`.
    """
    found = find_check(name)
    if isinstance(found, Scenario):
        played = corpus_checks(
            subject, [found], algorithm=algorithm, cooperative=cooperative
        )
    else:
        family, seed, index = found
        played = draw_checks(
            subject, family_of(family), seed, index, cooperative=cooperative
        )
    return _last(played, name)


def find_check(name: str) -> Scenario | tuple[str, int, int]:
    """Return the scenario of a check, or the family, seed, and index of its draw.

    Raises
    ------
    UnknownCheckError
        If the corpus has no such step, or a family no such draw.
    """
    part, _, rest = name.partition("/")
    if part == CORPUS:
        for scenario in corpus():
            steps = (step for step in scenario.steps if step.unreadable is None)
            if any(rest == f"{scenario.name}: {step.name}" for step in steps):
                return scenario
        raise UnknownCheckError(f"no check {name!r}: the corpus has no such step")
    drawn = _DRAW.fullmatch(rest)
    family = _family(part)
    if family is None or drawn is None:
        forms = f"{CORPUS}/SCENARIO: STEP or FAMILY/SEED/INDEX/STEP"
        raise UnknownCheckError(f"no check {name!r}: a name is {forms}")
    seed, index, step = map(int, drawn.groups())
    if step >= (count := family.steps):
        raise UnknownCheckError(f"no check {name!r}: {part} has {count} steps, from 0")
    return part, seed, index


def _family(part: str) -> Family | None:
    try:
        return family_of(part)
    except UnknownFamilyError:
        return None


def _last(played: Iterator[Check], name: str) -> Check:
    """Return the check of that name, or the one that ended the draw before it."""
    check = next(played)
    while name_of_check(check) != name:
        following = next(played, None)
        if following is None:
            break
        check = following
    return check

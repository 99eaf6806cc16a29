"""Play drawn share groups with an assignor, and judge each of its answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from conformance.clients import Answer
from studies.share_groups.draw_share_group import change_share_group, draw_share_group
from studies.share_groups.share_group import Held, ShareGroup, share_group_of
from studies.share_groups.share_judge import (
    ShareFigures,
    ShareViolation,
    share_figures,
    share_violations,
)

STEPS: Final = 6
"""Rebalances of one drawn group."""


class ShareSubject(Protocol):
    """An answerer of lines of share groups: `conformance.clients.Adapter` does."""

    def answer(self, rebalance: bytes) -> Answer:
        """Answer one line."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareCheck:
    """One share group, its answer, and the judge's violations.

    Attributes
    ----------
    name : str
        ``SEED/STEP``.
    held : mapping or None
        The answer; None if there is none that can be read.
    reason : str or None
        Why there is none.
    figures : ShareFigures or None
        Of an answer without violations.
    """

    name: str
    group: ShareGroup
    held: Held | None
    reason: str | None
    violations: tuple[ShareViolation, ...]
    figures: ShareFigures | None


def play_share_group(subject: ShareSubject, seed: int) -> Iterator[ShareCheck]:
    """Draw a group, and change it `STEPS` - 1 times; each answer is the next target.

    A rebalance without an answer ends it; one that violates a rule does not, because
    the coordinator would keep that target as well.
    """
    rng = Random(f"share/{seed}")  # noqa: S311 - not for secrets
    document = draw_share_group(rng)
    for step in range(STEPS):
        check = judged_share_group(subject, share_group_of(document), f"{seed}/{step}")
        yield check
        if check.held is None:
            return
        held = {name: dict(topics) for name, topics in check.held.items()}
        document = change_share_group(rng, document, held)


def judged_share_group(
    subject: ShareSubject, group: ShareGroup, name: str
) -> ShareCheck:
    """Send one group and judge the answer."""
    answer = subject.answer(group.to_line())
    if answer.assignment is None:
        return ShareCheck(
            name=name,
            group=group,
            held=None,
            reason=answer.reason,
            violations=(),
            figures=None,
        )
    held = json.loads(json.dumps(answer.assignment.members))
    violations = share_violations(group, held)
    return ShareCheck(
        name=name,
        group=group,
        held=held,
        reason=None,
        violations=violations,
        figures=None if violations else share_figures(group, held),
    )

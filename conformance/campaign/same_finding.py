"""When two findings are one: they have the same mechanism, as far as that is known.

Where the client's place is known, category, detail, and place name the mechanism.
Otherwise, an invalid answer can have several causes: those of different families are
shrunk each, and are one if their shrunk instances have the same shapes, because nothing
of a shrunk instance can be removed. A gap in quality is one whatever its instance, but
needless moves where members claim the same partition, whose cause can be how the claims
are told apart, are others than those elsewhere: with claims of one generation, and with
claims of different generations only. Answers that differ are examined in each family,
and are one if they depend on the same. A fault of a leader that lives from step to step
is another finding: its instance alone does not show it.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.runs import FAMILIES, Category, DrawnOutcome
from conformance.shapes import SHAPES
from conformance.shrinking import Shrunk

Key = tuple[object, ...]


def drawn_key(sighting: DrawnOutcome) -> Key:
    """Return the key that distinguishes a finding before it is shrunk."""
    outcome = sighting.outcome
    is_difference = outcome.category is Category.NONDETERMINISTIC
    if is_difference or _is_remembered(sighting):
        return (*sighting.mechanism, sighting.family)
    if outcome.place is not None or not outcome.category.is_safety:
        return sighting.key
    return (*sighting.mechanism, sighting.family)


def shrunk_key(sighting: DrawnOutcome, shrunk: Shrunk | None) -> Key:
    """Return the key that distinguishes a finding after it is shrunk."""
    if sighting.outcome.category is Category.NONDETERMINISTIC:
        return sighting.mechanism
    key = drawn_key(sighting)
    if shrunk is None or _is_remembered(sighting):
        return key
    if key == sighting.key:
        return replace(sighting, outcome=shrunk.outcome).key
    instance = shrunk.outcome.rounds[0].rebalance
    shapes = sorted(name for name, holds in SHAPES.items() if holds(instance))
    return (*sighting.mechanism, *shapes)


def _is_remembered(sighting: DrawnOutcome) -> bool:
    """Return whether it is a fault of a leader that lives from step to step."""
    family = FAMILIES.get(sighting.family)
    keeps = family is not None and family.keeps_leader
    return keeps and sighting.outcome.category.is_safety

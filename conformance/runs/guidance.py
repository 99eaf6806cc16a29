"""Share the time of a run among families, guided by the coverage of outcomes.

The next task is of the family that has had the least time, divided by its `turns`. A
family whose last tasks had outcomes that had rarely been seen has up to four times as
much. The configurations of a family are treated in the same way. Which draws are made
depends on this; the draws themselves do not.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.runs.draws import Draws, FamilyCounts, Trait
from conformance.runs.own_families import family_of

RARE: Final = 2
"""A trait is new to a run until so many tasks have had it."""
LATELY: Final = 8
"""Number of last tasks that count."""
BOOST: Final = 3
"""A family whose last tasks all had something new has so many times more time."""
SLICE: Final = 0.1
"""Seconds that a task is to take."""
MOST: Final = 100
"""Draws of a task."""


@dataclass(slots=True)
class Arm:
    """A family or a configuration of one, with the time that it has had."""

    turns: int = 1
    spent: float = 0.0  # seconds, divided by turns and novelty
    expected: float = SLICE  # seconds of a task
    draws: int = 0  # begun
    rate: float = 0.0  # draws per second
    lately: deque[bool] = field(default_factory=lambda: deque(maxlen=LATELY))

    def learn(self, seconds: float, draws: int, *, is_new: bool) -> None:
        """Take the result of a task into account; it was charged by `charge`."""
        self.spent += (seconds - self.expected) / self._weight()
        self.lately.append(is_new)
        self.expected = (self.expected + seconds) / 2
        if seconds > 0:
            self.rate = draws / seconds

    def charge(self) -> None:
        """Count a task that begins, as far as its time can be expected."""
        self.spent += self.expected / self._weight()

    def _weight(self) -> float:
        return self.turns * (1 + BOOST * sum(self.lately) / LATELY)


@dataclass(slots=True, kw_only=True)
class Guide:
    """The state of a guided run; `next_draws` and `learn` alternate in any order.

    Attributes
    ----------
    template : Draws
        Seed, limits, and all else that tasks have in common.
    """

    families: Sequence[str]
    template: Draws
    first: int = 0
    _families: dict[str, Arm] = field(init=False)
    _configurations: dict[tuple[str, int], Arm] = field(init=False)
    _seen: Counter[Trait] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._families = {
            name: Arm(turns=family_of(name).turns) for name in self.families
        }
        self._configurations = {
            (name, number): Arm()
            for name in self.families
            for number in range(family_of(name).configurations)
        }

    def next_draws(self) -> Draws:
        """Return the next task."""
        name = min(self._families, key=lambda name: self._families[name].spent)
        family = family_of(name)
        number = min(
            range(family.configurations),
            key=lambda number: self._configurations[name, number].spent,
        )
        arm = self._configurations[name, number]
        usual = max(1, 20 // family.share)
        count = min(MOST, max(1, int(arm.rate * SLICE))) if arm.rate else usual
        start = _first_of(self.first, number, family.configurations)
        task = self.template.of(
            name,
            start=start + arm.draws * family.configurations,
            count=count,
            stride=family.configurations,
        )
        if not family.keeps_leader:
            task = replace(task, leader=None)
        arm.draws += count
        arm.charge()
        self._families[name].charge()
        return task

    def learn(self, task: Draws, counts: FamilyCounts) -> None:
        """Take the result of a task into account."""
        is_new = any(self._seen[trait] < RARE for trait in counts.traits)
        self._seen.update(set(counts.traits))
        number = task.start % family_of(task.family).configurations
        for arm in (
            self._families[task.family],
            self._configurations[task.family, number],
        ):
            arm.learn(counts.seconds, counts.draws, is_new=is_new)


def _first_of(first: int, number: int, configurations: int) -> int:
    """Return the first index from ``first`` on that has this configuration."""
    return first + (number - first) % configurations

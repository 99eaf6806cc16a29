"""What is known, budget by budget: the best found, and what cannot be beaten.

More moves never make the best worse. So what is found for a budget holds for every
larger one, and what is proved for a budget for every smaller one; a budget between two
whose values agree needs no search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

Held = TypeVar("Held")
Why = TypeVar("Why")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[Held, Why]):
    """What is known of one budget.

    Attributes
    ----------
    value : int
        The best found with so many moves.
    held : Held
        What has that value.
    bound : int
        Nothing within the budget has less.
    why : Why
        What the bound rests on.
    """

    value: int
    held: Held
    bound: int
    why: Why


@dataclass(slots=True)
class Staircase(Generic[Held, Why]):
    """Steps for the budgets from ``first`` on; ``steps[0]`` is that of ``first``.

    Built from one answer that is within every budget and a bound of all.
    """

    first: int
    steps: list[Step[Held, Why]] = field(default_factory=list)

    @classmethod
    def flat(cls, first: int, last: int, step: Step[Held, Why]) -> Staircase[Held, Why]:
        """Begin with one step for all budgets from ``first`` to ``last``."""
        return cls(first=first, steps=[step] * (last - first + 1))

    @property
    def last(self) -> int:
        """The largest budget."""
        return self.first + len(self.steps) - 1

    def at(self, budget: int) -> Step[Held, Why]:
        """Return what is known of a budget."""
        return self.steps[budget - self.first]

    def found(self, moves: int, value: int, held: Held) -> None:
        """Note what has a value with so many moves."""
        for place in range(max(0, moves - self.first), len(self.steps)):
            step = self.steps[place]
            if step.value <= value:
                return
            _check_agree(value, step.bound)
            self.steps[place] = Step(
                value=value, held=held, bound=step.bound, why=step.why
            )

    def proved(self, budget: int, bound: int, why: Why) -> None:
        """Note that nothing within a budget has less."""
        for place in range(min(budget, self.last) - self.first, -1, -1):
            step = self.steps[place]
            if step.bound >= bound:
                return
            _check_agree(step.value, bound)
            self.steps[place] = Step(
                value=step.value, held=step.held, bound=bound, why=why
            )

    def is_open(self, budget: int) -> bool:
        """Tell whether something better may exist within a budget."""
        step = self.at(budget)
        return step.bound < step.value

    @property
    def open(self) -> list[int]:
        """Budgets that are not settled."""
        return [k for k in range(self.first, self.last + 1) if self.is_open(k)]

    def is_corner(self, budget: int) -> bool:
        """Tell whether fewer moves have not been found to be as good."""
        return budget == self.first or self.at(budget - 1).value > self.at(budget).value

    def is_proved_corner(self, budget: int) -> bool:
        """Tell whether the value is the best, and no fewer moves reach it."""
        if self.is_open(budget):
            return False
        first = budget == self.first
        return first or self.at(budget - 1).bound > self.at(budget).value

    def runs(self) -> Iterator[tuple[int, int, int]]:
        """Yield first and last budget and bound of each run of open ones."""
        placed = [(k - place, k) for place, k in enumerate(self.open)]
        alike = groupby(placed, key=lambda one: (one[0], self.at(one[1]).bound))
        for (_, bound), run in alike:
            budgets = [k for _, k in run]
            yield budgets[0], budgets[-1], bound


def _check_agree(value: int, bound: int) -> None:
    if bound > value:
        raise AssertionError(f"found {value}, which is below its bound of {bound}")


def halving(budgets: list[int]) -> Iterator[int]:
    """Yield both ends, then the middles of what is left between, wide gaps first."""
    if not budgets:
        return
    yield budgets[0]
    if len(budgets) > 1:
        yield budgets[-1]
    gaps = [(0, len(budgets) - 1)]
    while gaps:
        low, high = gaps.pop(0)
        middle = (low + high) // 2
        if low < middle < high:
            yield budgets[middle]
            gaps += [(low, middle), (middle, high)]

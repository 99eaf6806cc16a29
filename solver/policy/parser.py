"""Parser of the text form of a policy: ``per-topic; peak-lag, rack; max-moves=3``.

Parts are separated by ``;``: a balance or the name of a policy first, then objectives
separated by commas, then ``max-moves=k``. A weighted sum is ``2*stickiness + rack``.
Each part is optional; the default balance is ``dec-min``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from rebalance import PolicyError
from solver.constants import INT64_MAX
from solver.policy.definition import (
    WEIGHT_MAX,
    Balance,
    BalanceKind,
    Objective,
    Policy,
    WeightedObjective,
)

BUDGET: Final = "max-moves"
OBJECTIVES: Final = {objective.value: objective for objective in Objective}
BALANCES: Final = {kind.value: kind for kind in BalanceKind}
FRONTIER_MEASURES: Final = frozenset({"sum-of-squares"})
"""Words of the points of a Pareto frontier (`solver.pareto`), not of a policy."""

LENGTH_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextPart:
    """A part of the text, and its position in the whole."""

    text: str
    start: int

    def split(self, separator: str) -> Iterator[_TextPart]:
        start = self.start
        for part in self.text.split(separator):
            indent = len(part) - len(part.lstrip())
            yield _TextPart(text=part.strip(), start=start + indent)
            start += len(part) + 1


class PolicyReader:
    """Parses one text; keeps it for the errors."""

    def __init__(self, text: str, named: Mapping[str, Policy]) -> None:
        self.text, self.named = text, named

    def policy(self) -> Policy:
        """Return the policy; raise PolicyError with the word that is wrong."""
        if len(self.text) > LENGTH_MAX:
            raise PolicyError(f"longer than {LENGTH_MAX} characters")
        whole = _TextPart(text=self.text, start=0)
        base: Policy | None = None
        objectives: tuple[WeightedObjective, ...] | None = None
        budget: int | None = None
        for at, piece in enumerate(whole.split(";")):
            word = piece.text.partition("=")[0].strip()
            if word == BUDGET:
                if budget is not None:
                    raise self._error("a second budget", piece)
                budget = self._number(piece)
            elif word in self.named or word in BALANCES:
                if base is not None or objectives is not None:
                    raise self._error("a balance or a name comes first, once", piece)
                base = self._first(piece, word)
            elif not piece.text:
                raise self._error("an empty part", piece)
            elif objectives is None and budget is None:
                objectives = self._objectives(piece, may_be_first=at == 0)
                if base is not None and base.objectives:
                    why = "a named policy has its objectives; write it out to add more"
                    raise self._error(why, piece)
            else:
                raise self._unknown(word, piece, [BUDGET])
        base = base or Policy()
        return Policy(
            balance=base.balance,
            objectives=base.objectives if objectives is None else objectives,
            max_moves=budget,
        )

    def _first(self, piece: _TextPart, word: str) -> Policy:
        kind = BALANCES.get(word)
        if kind is BalanceKind.SPREAD:
            return Policy(balance=Balance(kind=kind, most=self._number(piece)))
        if piece.text != word:
            raise self._error(f"{word} takes no number", piece)
        return self.named[word] if kind is None else Policy(balance=Balance(kind=kind))

    def _objectives(
        self, piece: _TextPart, *, may_be_first: bool
    ) -> tuple[WeightedObjective, ...]:
        others = [*BALANCES, *self.named, BUDGET] if may_be_first else [BUDGET]
        found: list[WeightedObjective] = []
        for part in piece.split(","):
            objective = self._sum(part, others)
            if objective in found:
                raise self._error(f"{part.text} twice", part)
            only = objective.only
            if only is not None and only in [other.only for other in found]:
                raise self._error(f"{only.value} twice", part)
            found.append(objective)
        return tuple(found)

    def _sum(self, piece: _TextPart, others: list[str]) -> WeightedObjective:
        terms = [self._term(part, others) for part in piece.split("+")]
        try:
            return WeightedObjective(terms=tuple(terms))
        except PolicyError as error:
            raise self._error(error.reason, piece) from None

    def _term(self, piece: _TextPart, others: list[str]) -> tuple[int, Objective]:
        *before, name = piece.split("*")
        if len(before) > 1:
            raise self._error("more than one weight", piece)
        weight = self._weight(before[0]) if before else 1
        if not name.text:
            raise self._error("an objective is missing", piece)
        if name.text not in OBJECTIVES:
            raise self._unknown(name.text, name, others)
        return weight, OBJECTIVES[name.text]

    def _weight(self, piece: _TextPart) -> int:
        if re.fullmatch(r"-\s*[0-9]+", piece.text):
            raise self._error("a negative weight", piece)
        if not re.fullmatch(r"[0-9]+", piece.text):
            raise self._error(f"{piece.text!r} is not a whole number", piece)
        if not 1 <= _bounded(piece.text) <= WEIGHT_MAX:
            raise self._error(f"a weight outside 1 to {WEIGHT_MAX}", piece)
        return int(piece.text)

    def _number(self, piece: _TextPart) -> int:
        word, equals, number = (part.strip() for part in piece.text.partition("="))
        if not equals:
            raise self._error(f"{word} needs a number: {word}=3", piece)
        if re.fullmatch(r"-\s*[0-9]+", number):
            raise self._error(f"{word} below 0", piece)
        if not re.fullmatch(r"[0-9]+", number) or _bounded(number) > INT64_MAX:
            raise self._error(f"{number!r} is not a number for {word}", piece)
        return int(number)

    def _unknown(self, word: str, piece: _TextPart, others: list[str]) -> PolicyError:
        if word in FRONTIER_MEASURES:
            return self._error(f"{word} is weighed by front, and by it alone", piece)
        if word in {*OBJECTIVES, *BALANCES, *self.named, BUDGET}:
            order = "balance; objectives with commas between; max-moves=k"
            return self._error(f"{word} has no place here; in order: {order}", piece)
        known = [*OBJECTIVES, *others]
        near = get_close_matches(word.lower(), known, n=1)
        if near:
            return self._error(f"{word!r} is unknown; did you mean {near[0]!r}?", piece)
        return self._error(f"{word!r} is unknown; there is: {', '.join(known)}", piece)

    def _error(self, reason: str, piece: _TextPart) -> PolicyError:
        return PolicyError(
            reason, text=self.text, start=piece.start, length=max(1, len(piece.text))
        )


def _bounded(digits: str) -> int:
    """Convert digits; a number with too many digits becomes one that is too large."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(INT64_MAX)) else INT64_MAX + 1

"""The text form of a policy: ``per-topic; peak-lag, stickiness; max-moves=3``.

Parts are separated by ``;``: a balance or the name of a policy first, then objectives
with commas between, then ``max-moves=k``. A sum is ``2*stickiness + rack``. Each part
may be left out; without a balance it is ``dec-min``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from rebalance.errors import PolicyError
from solver.policy.named import NAMED
from solver.policy.policy import (
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
MEASURES: Final = frozenset({"sum-of-squares"})
"""What only the points of a frontier minimize (`solver.pareto.balance_frontier`)."""

NUMBER_MAX: Final = 2**63 - 1
LENGTH_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A part of the text, and where it starts in the whole."""

    text: str
    start: int

    def split(self, separator: str) -> Iterator[_Piece]:
        start = self.start
        for part in self.text.split(separator):
            lead = len(part) - len(part.lstrip())
            yield _Piece(text=part.strip(), start=start + lead)
            start += len(part) + 1


def parse_policy(text: str) -> Policy:
    """Read a policy.

    Raises
    ------
    PolicyError
        If it is none; carries the word and where it stands.
    """
    return _Reader(text).policy()


class _Reader:
    """Reads one text; keeps it for the errors."""

    def __init__(self, text: str) -> None:
        self.text = text

    def policy(self) -> Policy:
        if len(self.text) > LENGTH_MAX:
            raise PolicyError(f"longer than {LENGTH_MAX} characters")
        whole = _Piece(text=self.text, start=0)
        policy: Policy | None = None
        levels: tuple[WeightedObjective, ...] | None = None
        budget: int | None = None
        for at, piece in enumerate(whole.split(";")):
            word = piece.text.partition("=")[0].strip()
            if word == BUDGET:
                if budget is not None:
                    raise self._error("a second budget", piece)
                budget = self._number(piece)
            elif word in NAMED or word in BALANCES:
                if policy is not None or levels is not None:
                    raise self._error("a balance or a name comes first, once", piece)
                policy = self._first(piece, word)
            elif not piece.text:
                raise self._error("an empty part", piece)
            elif levels is None and budget is None:
                levels = self._levels(piece, may_be_first=at == 0)
                if policy is not None and policy.objectives:
                    why = "a named policy has its objectives; write it out to add more"
                    raise self._error(why, piece)
            else:
                raise self._unknown(word, piece, [BUDGET])
        base = policy or Policy()
        return Policy(
            balance=base.balance,
            objectives=base.objectives if levels is None else levels,
            max_moves=budget,
        )

    def _first(self, piece: _Piece, word: str) -> Policy:
        if word in NAMED:
            if piece.text != word:
                raise self._error(f"{word} takes no number", piece)
            return NAMED[word]
        kind = BALANCES[word]
        if kind is BalanceKind.SPREAD:
            return Policy(balance=Balance(kind=kind, most=self._number(piece)))
        if piece.text != word:
            raise self._error(f"{word} takes no number", piece)
        return Policy(balance=Balance(kind=kind))

    def _levels(
        self, piece: _Piece, *, may_be_first: bool
    ) -> tuple[WeightedObjective, ...]:
        first = [*BALANCES, *NAMED, BUDGET] if may_be_first else [BUDGET]
        found: list[WeightedObjective] = []
        for one in piece.split(","):
            level = self._sum(one, first)
            if level in found:
                raise self._error(f"{one.text} twice", one)
            if level.only is not None and level.only in [other.only for other in found]:
                raise self._error(f"{level.only.value} twice", one)
            found.append(level)
        return tuple(found)

    def _sum(self, piece: _Piece, others: list[str]) -> WeightedObjective:
        terms = [self._term(one, others) for one in piece.split("+")]
        try:
            return WeightedObjective(terms=tuple(terms))
        except PolicyError as error:
            raise self._error(error.reason, piece) from None

    def _term(self, piece: _Piece, others: list[str]) -> tuple[int, Objective]:
        *before, name = piece.split("*")
        if len(before) > 1:
            raise self._error("more than one weight", piece)
        weight = self._weight(before[0]) if before else 1
        if not name.text:
            raise self._error("an objective is missing", piece)
        if name.text not in OBJECTIVES:
            raise self._unknown(name.text, name, others)
        return weight, OBJECTIVES[name.text]

    def _weight(self, piece: _Piece) -> int:
        if re.fullmatch(r"-\s*[0-9]+", piece.text):
            raise self._error("a negative weight", piece)
        if not re.fullmatch(r"[0-9]+", piece.text):
            raise self._error(f"{piece.text!r} is no whole number", piece)
        if not 1 <= _bounded(piece.text) <= WEIGHT_MAX:
            raise self._error(f"a weight outside 1 to {WEIGHT_MAX}", piece)
        return int(piece.text)

    def _number(self, piece: _Piece) -> int:
        word, equals, number = (part.strip() for part in piece.text.partition("="))
        if not equals:
            raise self._error(f"{word} needs a number: {word}=3", piece)
        if re.fullmatch(r"-\s*[0-9]+", number):
            raise self._error(f"{word} below 0", piece)
        if not re.fullmatch(r"[0-9]+", number) or _bounded(number) > NUMBER_MAX:
            raise self._error(f"{number!r} is no number for {word}", piece)
        return int(number)

    def _unknown(self, word: str, piece: _Piece, others: list[str]) -> PolicyError:
        if word in MEASURES:
            return self._error(f"{word} is weighed by front, and by it alone", piece)
        if word in {*OBJECTIVES, *BALANCES, *NAMED, BUDGET}:
            order = "balance; objectives with commas between; max-moves=k"
            return self._error(f"{word} has no place here; in order: {order}", piece)
        known = [*OBJECTIVES, *others]
        near = get_close_matches(word.lower(), known, n=1)
        if near:
            return self._error(f"{word!r} is unknown; did you mean {near[0]!r}?", piece)
        return self._error(f"{word!r} is unknown; there is: {', '.join(known)}", piece)

    def _error(self, reason: str, piece: _Piece) -> PolicyError:
        return PolicyError(
            reason, text=self.text, start=piece.start, length=max(1, len(piece.text))
        )


def _bounded(digits: str) -> int:
    """Read digits; what is far too long to be a number here is one too large."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(NUMBER_MAX)) else NUMBER_MAX + 1

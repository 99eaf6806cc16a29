"""Conditions on which an audit ends with exit code 1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import typer

INVALID: Final = "invalid"
HARM: Final = "harm"
UNBALANCED: Final = "unbalanced"
NEEDLESS: Final = "needless"
WORSE: Final = "worse"
WORDS: Final = (INVALID, HARM, UNBALANCED, NEEDLESS, WORSE)
_KNOWN: Final = (
    "known are invalid, harm>N, unbalanced, needless, and worse; each can have >N"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLimit:
    """A condition: the figure that ``word`` names is above a number."""

    word: str
    above: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOn:
    """Conditions, each of which is enough."""

    limits: tuple[FigureLimit, ...]

    @property
    def worse(self) -> tuple[FigureLimit, ...]:
        """The conditions that compare an audit with the one before."""
        return tuple(limit for limit in self.limits if limit.word == WORSE)

    @property
    def of_figures(self) -> tuple[FigureLimit, ...]:
        """The other conditions."""
        return tuple(limit for limit in self.limits if limit.word != WORSE)


def parse_conditions(text: str) -> FailOn:
    """Parse conditions, separated by commas, such as ``invalid,harm>1000``.

    Raises
    ------
    BadParameter
        If a word is unknown, or its number is missing, or is not one.
    """
    return FailOn(limits=tuple(_parsed(part.strip()) for part in text.split(",")))


def _parsed(text: str) -> FigureLimit:
    word, sign, number = (part.strip() for part in text.partition(">"))
    if word not in WORDS:
        raise typer.BadParameter(f"{word!r} is unknown; {_KNOWN}")
    if not sign:
        if word == HARM:
            reason = "harm requires a number of partition-seconds, such as 'harm>1000'"
            raise typer.BadParameter(reason)
        return FigureLimit(word=word)
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,6})?", number):
        raise typer.BadParameter(f"{text!r}: {number!r} is not a number from 0 on")
    return FigureLimit(word=word, above=float(number))

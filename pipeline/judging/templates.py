"""Outcomes with canonical names as templates, filled with the names of a rebalance."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import orjson

from pipeline.judging.canonical import (
    ASSIGNOR,
    GROUP,
    IDENTITY,
    MARK,
    Names,
    canonical_members,
    canonical_topics,
)
from pipeline.judging.outcome import Outcome, Row

_QUOTED: Final = re.compile(f'"({MARK}[a-z][0-9]*{MARK})"')
_TEXTS: Final = ("assignment", "evidence")
_COLUMNS_BYTES: Final = 4_000
"""Bytes of the columns of an answer, estimated from above."""


@dataclass(frozen=True, slots=True)
class _Text:
    """JSON text with gaps: ``parts`` alternate between text and gap."""

    parts: tuple[str, ...]
    gaps: tuple[int, ...]

    def filled(self, quoted: Sequence[str]) -> str:
        parts = list(self.parts)
        parts[1::2] = [quoted[gap] for gap in self.gaps]
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class _AnswerTemplate:
    columns: Row
    texts: tuple[tuple[str, _Text], ...]
    violations: tuple[tuple[Row, int | None, int | None], ...]

    def filled(self, names: Sequence[str | None], quoted: Sequence[str]) -> Row:
        row = self.columns.copy()
        for column, text in self.texts:
            row[column] = text.filled(quoted)
        if self.violations:
            row["violations"] = [
                one
                | {
                    "member": None if member is None else names[member],
                    "topic": None if topic is None else names[topic],
                }
                for one, member, topic in self.violations
            ]
        return row


class Template:
    """An outcome without names.

    Parameters
    ----------
    outcome : Outcome
        With canonical names, and without failures.
    names : Names
        Of any rebalance with the same canonical form.

    Raises
    ------
    ValueError
        If a canonical name is anywhere else than in the texts and violations.
    """

    def __init__(self, outcome: Outcome, names: Names) -> None:
        listed = [GROUP, IDENTITY, ASSIGNOR]
        listed += [*canonical_members(names), *canonical_topics(names)]
        gaps = {name: gap for gap, name in enumerate(listed)}
        self._counts = replace(outcome, answers=())
        self._answers = tuple(_template(row, gaps) for row in outcome.answers)
        texts = (
            part
            for answer in self._answers
            for _, text in answer.texts
            for part in text.parts
        )
        self.size = sum(map(len, texts)) + _COLUMNS_BYTES * len(self._answers)

    def filled(self, names: Names) -> Outcome:
        """Return the outcome with the names of a rebalance."""
        listed = [names.group, names.identity, names.assignor]
        listed += [*names.members, *names.topics]
        quoted = [_quoted(name) for name in listed]
        answers = tuple(one.filled(listed, quoted) for one in self._answers)
        return replace(self._counts, answers=answers)


def _template(row: Row, gaps: Mapping[str, int]) -> _AnswerTemplate:
    texts = tuple((name, _text(row[name], gaps)) for name in _TEXTS if row.get(name))
    violations = tuple(_violation(one, gaps) for one in row.get("violations") or ())
    columns = {name: value for name, value in row.items() if name not in dict(texts)}
    if violations:
        del columns["violations"]
    _refuse_names(columns.values())
    return _AnswerTemplate(columns, texts, violations)


def _text(text: str, gaps: Mapping[str, int]) -> _Text:
    parts = _QUOTED.split(text)
    _refuse_names(parts[::2])
    return _Text(tuple(parts), tuple(gaps[name] for name in parts[1::2]))


def _violation(
    violation: Row, gaps: Mapping[str, int]
) -> tuple[Row, int | None, int | None]:
    member, topic = violation["member"], violation["topic"]
    return (
        violation,
        None if member is None else gaps[member],
        None if topic is None else gaps[topic],
    )


def _refuse_names(values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, str) and MARK in value:
            raise ValueError(f"a canonical name in {value[:80]!r}")


@lru_cache(maxsize=65_536)
def _quoted(name: str | None) -> str:
    return orjson.dumps(name).decode()

"""Answers under the names of their rebalances, as assignment/1 texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import orjson

from pipeline.evaluation import ACTUAL, OPTIMUM
from pipeline.judging.case_arrays import begins_of
from pipeline.judging.evaluated import Evaluated
from pipeline.judging.rebalance_code import HEADER, RebalanceCode
from pipeline.judging.text_kernels import AnswerColumns, answer_texts
from rebalance import Texts

ENGINE: Final = "oracle"
"""Assignor that assignments of the exact core state."""
_HEADS: Final = 64
"""Names of assignors of which the text is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAnswers:
    """Answers to one rebalance, and the facts of it in their texts.

    Attributes
    ----------
    code : RebalanceCode
    found : Evaluated
    group, identity : str or None
    client : str or None
        Assignor of the real answer; None: not known.
    """

    code: RebalanceCode
    found: Evaluated
    group: str
    identity: str | None
    client: str | None


def assignment_texts(all_answers: Sequence[NamedAnswers]) -> list[list[str]]:
    """Write the answers to each rebalance as assignment/1, canonical JSON."""
    if not all_answers:
        return []
    text, ends = answer_texts(_answer_columns(all_answers))
    data, begin, texts = text.tobytes(), 0, []
    places = iter(ends.tolist())
    for named in all_answers:
        own = []
        for end in (next(places) for _ in named.found.assignors):
            own.append(data[begin:end].decode())
            begin = end
        texts.append(own)
    return texts


def _answer_columns(all_answers: Sequence[NamedAnswers]) -> AnswerColumns:
    """Gather the answers to all rebalances."""
    codes = [named.code for named in all_answers]
    found = [named.found for named in all_answers]
    every = [(named, name) for named in all_answers for name in named.found.assignors]
    optima = [evaluated.assignors.index(OPTIMUM) for evaluated in found]
    return AnswerColumns(
        member_at=begins_of([len(code.members) for code in codes]),
        topic_at=begins_of([len(code.topics) for code in codes]),
        answer_at=begins_of([len(evaluated.assignors) for evaluated in found]),
        sizes=np.concatenate(
            [code.code[HEADER : HEADER + len(code.topics)] for code in codes]
        ),
        assignee=np.concatenate(
            [evaluated.answers.assignee.ravel() for evaluated in found]
        ),
        is_optimum=np.array([name == OPTIMUM for _, name in every], np.bool_),
        figures=np.array([evaluated.optimum for evaluated in found]),
        counts=np.array([evaluated.counts for evaluated in found]),
        loads=np.concatenate(
            [
                evaluated.answers.loads[place]
                for evaluated, place in zip(found, optima, strict=True)
            ]
        ),
        level=np.concatenate([evaluated.level for evaluated in found]),
        price=np.concatenate([evaluated.price for evaluated in found]),
        heads=Texts.of([_head(named, name) for named, name in every]),
        abouts=Texts.of([_about(named) for named in all_answers]),
        members=Texts.keys(name for code in codes for name in code.members),
        topics=Texts.keys(name for code in codes for name in code.topics),
    )


def _head(answers: NamedAnswers, assignor: str) -> bytes:
    """Return the text of an answer up to its certificate."""
    if assignor == ACTUAL:
        return _head_of(answers.client)
    return _head_of(ENGINE if assignor == OPTIMUM else assignor)


@lru_cache(maxsize=_HEADS)
def _head_of(name: str | None) -> bytes:
    return b"{" if name is None else b'{"assignor":' + orjson.dumps(name) + b","


def _about(answers: NamedAnswers) -> bytes:
    """Return the text of an answer between its figures and its members."""
    about = b'"format":"assignment/1","group":' + orjson.dumps(answers.group)
    if answers.identity is not None:
        about += b',"id":' + orjson.dumps(answers.identity)
    return about + b',"members":'

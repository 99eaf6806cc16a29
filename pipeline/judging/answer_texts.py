"""Answers under the names of a rebalance, as assignment/1 texts."""

from __future__ import annotations

from typing import Final

import orjson

from pipeline.evaluation import ACTUAL, OPTIMUM
from pipeline.judging.code_kernels import (
    KEPT,
    LAG_SPREAD,
    OWNED,
    PEAK_LAG,
    SCORE,
)
from pipeline.judging.evaluated import Evaluated
from pipeline.judging.rebalance_code import HEADER, RebalanceCode
from rebalance import Texts, members_texts

ENGINE: Final = "oracle"
"""Assignor that assignments of the exact core state."""


def assignment_texts(
    rebalance: RebalanceCode,
    found: Evaluated,
    *,
    group: str,
    identity: str | None,
    client: str | None,
) -> list[str]:
    """Write the answers as assignment/1, canonical JSON.

    Parameters
    ----------
    client
        Assignor of the real answer; None: not known.
    """
    members = [_quoted(name) + b":" for name in rebalance.members]
    topics = [_quoted(name) + b":" for name in rebalance.topics]
    written, ends = members_texts(
        found.answers.assignee,
        rebalance.code[HEADER : HEADER + len(rebalance.topics)],
        Texts.of(members),
        Texts.of(topics),
    )
    about = b'"format":"assignment/1","group":' + _quoted(group)
    if identity is not None:
        about += b',"id":' + _quoted(identity)
    about += b',"members":'
    texts, begin = [], 0
    for place, end in enumerate(ends.tolist()):
        name: str | None = found.assignors[place]
        name = client if name == ACTUAL else ENGINE if name == OPTIMUM else name
        text = b"{" if name is None else b'{"assignor":' + _quoted(name) + b","
        if found.assignors[place] == OPTIMUM:
            text += _certificate(rebalance, found) + _figures(found, place)
        text += about + written[begin:end].tobytes()
        is_optimum = found.assignors[place] == OPTIMUM
        text += b',"status":"optimal"}' if is_optimum else b"}"
        texts.append(text.decode())
        begin = end
    return texts


def _quoted(name: str) -> bytes:
    return orjson.dumps(name)


def _certificate(rebalance: RebalanceCode, found: Evaluated) -> bytes:
    level = dict(zip(rebalance.members, found.level.tolist(), strict=True))
    price = dict(zip(rebalance.members, found.price.tolist(), strict=True))
    return b'"certificate":' + orjson.dumps({"level": level, "price": price}) + b","


def _figures(found: Evaluated, place: int) -> bytes:
    figures = found.answers.figures[place].tolist()
    stated = {
        "dec_min_balanced": True,
        "kept": figures[KEPT],
        "kip54_balanced": True,
        "kip54_score": figures[SCORE],
        "lag_spread": figures[LAG_SPREAD],
        "loads": found.answers.loads[place].tolist(),
        "moves": int(found.counts[OWNED]) - figures[KEPT],
        "peak_lag": figures[PEAK_LAG],
        "rack_mismatches": 0,
    }
    return b'"figures":' + orjson.dumps(stated) + b","

"""Potential gain of eager groups had they used another assignor, as sums that merge.

Evidence for advice: Kafka's own assignors on the same generations as the clients.
Potential gain is as on the page, in partitions: needless moves, missing transfers, and
one for each invalid assignment. Rows are grouped by the codes of their dictionaries:
a page of a million rebalances has five million such rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from oracle.summary.arrow_columns import equals, is_true, summed
from oracle.summary.outcome_columns import (
    INVALID,
    NEEDLESS,
    OPEN,
    OUTCOMES,
    UNBALANCED,
    needless_moves,
    outcome_codes,
    transfers_needed,
)

CLASSIC: Final = ("sticky", "range", "round-robin")
CONSUMER: Final = ("uniform", "server-range")
"""Kafka's assignors of each protocol, preferred first, by our names.

``sticky`` stands for ``cooperative-sticky``, too: from one state they assign the same.
"""
ALTERNATIVES: Final = (*CLASSIC, *CONSUMER)
_WIDTH: Final = len(ALTERNATIVES)
GAIN_COLUMNS: Final = ("cluster", "group_id", "client_assignor", "members")
"""Columns of ``answers`` that are read in addition to those of `assignor_counts`."""
GAIN_KEYS: Final = ("cluster", "group_id", "client_assignor")

_MEASURED: Final = [
    "verdict",
    "dec_min_balanced",
    "moves",
    "moves_least",
    "at_optimum",
    "kip54_score",
    "kip54_score_least",
    "members",
]
_OF: Final = {name: np.int8(OUTCOMES.index(name)) for name in OUTCOMES}
_Ints = np.ndarray[Any, np.dtype[np.int64]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]


def partial_group_gains(rows: pa.RecordBatch) -> pa.Table:
    """Sum the gains of rows of ``answers`` of one cluster, per group and own assignor.

    Assignors, groups, and the groups' own assignors are dictionaries.

    Returns
    -------
    pyarrow.Table
        `GAIN_KEYS`, and of each of `ALTERNATIVES`: ``judged NAME``, generations whose
        outcome is known; ``refused NAME``, to which it does not apply; ``gain NAME``,
        in partitions; ``spoiled NAME``, that it leaves unbalanced, or invalid. All are
        int64.
    """
    rows = _taken(rows)
    groups, own = rows["group_id"], rows["client_assignor"]
    owns = len(own.dictionary) + 1  # 0: unknown
    owned = np.asarray(own.indices.fill_null(-1)).astype(np.int64) + 1
    key = np.asarray(groups.indices).astype(np.int64) * owns + owned
    which = _alternatives(rows, owned)
    found = np.flatnonzero(np.bincount(key[which >= 0], minlength=1))
    sums = _sums(rows, key * _WIDTH + which, which >= 0, found)
    names = pa.concat_arrays(
        [pa.nulls(1, pa.string()), own.dictionary.cast(pa.string())]
    )
    columns = {
        "cluster": rows["cluster"].take(pa.array(np.zeros(len(found), np.int64))),
        "group_id": groups.dictionary.take(pa.array(found // owns)),
        "client_assignor": names.take(pa.array(found % owns)),
    }
    return pa.table(columns | sums)


def merge_group_gains(parts: Iterable[pa.Table]) -> pa.Table:
    """Add the sums of several parts of the table."""
    return summed(pa.concat_tables(parts), GAIN_KEYS)


def _taken(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of all alternatives on eager generations, a third at most."""
    names = rows["assignor"].dictionary.to_pylist()
    is_alternative = np.array([name in ALTERNATIVES for name in names], np.bool_)
    alternative = is_alternative[np.asarray(rows["assignor"].indices)]
    places = np.flatnonzero(alternative & ~_flags(rows["cooperative"]))
    return rows.select([*GAIN_KEYS, "assignor", "applies", *_MEASURED]).take(
        pa.array(places)
    )


def _alternatives(rows: pa.RecordBatch, owned: _Ints) -> _Ints:
    """Return the place of each row's assignor in `ALTERNATIVES`.

    It is -1 if it is of another protocol than the group's own assignor.
    """
    names = rows["assignor"].dictionary.to_pylist()
    owns = [None, *rows["client_assignor"].dictionary.to_pylist()]
    same_protocol = [CONSUMER if own in CONSUMER else CLASSIC for own in owns]
    place = [
        [ALTERNATIVES.index(name) if name in few else -1 for name in names]
        for few in same_protocol
    ]
    table = np.array(place, np.int64).reshape(len(owns), len(names))
    codes: _Ints = table[owned, np.asarray(rows["assignor"].indices)]
    return codes


def _sums(
    rows: pa.RecordBatch, cell: _Ints, compared: _Flags, found: _Ints
) -> dict[str, _Ints]:
    """Return the sums of each alternative for the keys that are ``found``.

    ``cell`` is the key of each row, times `_WIDTH`, plus its alternative, where it is
    ``compared``. Most answers are at the optimum; only the others are measured.
    """
    size = (int(found.max(initial=0)) + 1) * _WIDTH
    valid = equals(rows["verdict"], "valid")
    settled = _flags(pc.and_(is_true(rows["at_optimum"]), valid))
    applies = _flags(rows["applies"])
    unsettled = np.flatnonzero(compared & applies & ~settled)
    measured = rows.select(_MEASURED).take(pa.array(unsettled))
    outcome = np.asarray(outcome_codes(measured))
    judged = compared & applies
    judged[unsettled[outcome == _OF[OPEN]]] = False
    is_spoiled = (outcome == _OF[UNBALANCED]) | (outcome == _OF[INVALID])
    gain = np.zeros(size, np.int64)
    np.add.at(gain, cell[unsettled], _gain(measured, outcome))
    sums = {
        "judged": np.bincount(cell[judged], minlength=size),
        "refused": np.bincount(cell[compared & ~applies], minlength=size),
        "gain": gain,
        "spoiled": np.bincount(cell[unsettled[is_spoiled]], minlength=size),
    }
    return {
        f"{what} {name}": of.reshape(-1, _WIDTH)[found, place]
        for what, of in sums.items()
        for place, name in enumerate(ALTERNATIVES)
    }


def _gain(rows: pa.RecordBatch, outcome: np.ndarray[Any, np.dtype[np.int8]]) -> _Ints:
    """Return the potential gain of each row, in partitions."""
    needless = needless_moves(rows, pa.array(outcome == _OF[NEEDLESS]))
    transfers = transfers_needed(rows, pa.array(outcome == _OF[UNBALANCED]))
    invalid = (outcome == _OF[INVALID]).astype(np.int64)
    total: _Ints = np.asarray(needless) + np.asarray(transfers) + invalid
    return total


def _flags(column: pa.Array) -> _Flags:
    return np.asarray(is_true(column))

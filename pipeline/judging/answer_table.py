"""Rows of ``answers`` as Arrow columns, from figures of many rebalances at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.evaluation import ACTUAL, COLUMNS, JUDGE, OPTIMUM
from pipeline.judging.case_tables import batch, where
from pipeline.judging.code_kernels import (
    DEC_MIN_BALANCED,
    DECIDED,
    IS_PEAK_LEAST,
    KEPT,
    KIP54_BALANCED,
    LAG_SPREAD,
    NEEDLESS_LAG,
    OWNED,
    PEAK_LAG,
    PEAK_LAG_BOUND,
    SCORE,
    UNKNOWN,
    WITHHELD,
)
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.harm_counts import (
    IMBALANCE,
    WAITING,
    harm_columns,
    waiting_of,
)
from pipeline.tables import HARM, SCHEMAS, least_transfers
from rebalance import ABSENT

SHARED: Final = (
    "cluster",
    "date",
    "rebalance_id",
    "group_id",
    "generation",
    "source",
    "client_assignor",
    "cooperative",
    "members",
    "partitions",
    "owned_from",
    "owned",
    "lag_known",
)
"""Columns of the rebalance."""
_SCHEMA: Final = SCHEMAS["answers"]
_VERDICT: Final = "valid"
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
_Answer: TypeAlias = tuple[CodedAnswers, int]
"""Answers to one rebalance, and the place of one of them."""


def answer_batch(
    rebalances: pa.RecordBatch, coded: Sequence[CodedAnswers], lasted: pa.Array
) -> pa.RecordBatch:
    """Return the rows of all decided answers.

    Parameters
    ----------
    rebalances
        Rows with the columns `SHARED`; of each, the answers.
    lasted : int64
        Milliseconds that the state after each lasts; null: not known.
    """
    chosen, of, figures = _decided(coded)
    listed = [answers.found.assignors[place] for answers, place in chosen]
    is_actual = np.array(listed, object) == ACTUAL
    counts = np.array([answers.found.counts for answers in coded])[of]
    least = np.array([answers.found.optimum for answers in coded])[of]
    moves_least = counts[:, OWNED] - least[:, KEPT]
    is_known = np.array([answers.lag_known for answers in coded])[of]
    columns: dict[str, Any] = {
        "assignor": listed,
        **_valid(len(of)),
        **_of_each(chosen, figures),
        **_peak_lags(figures, counts[:, PEAK_LAG_BOUND]),
        **_balance(figures, least[:, SCORE]),
        **_moves(figures, counts[:, OWNED], moves_least, is_actual & is_known),
        **_harm(
            [answers for answers, _ in compress(chosen, is_actual)],
            figures,
            moves_least,
            least[:, SCORE],
            is_actual,
            lasted.take(pa.array(of)),
        ),
        **_proofs(listed),
    }
    index = pa.array(of)
    for name in SHARED:
        columns[name] = rebalances[name].take(index)
    return batch("answers", len(of), columns)


def _decided(coded: Sequence[CodedAnswers]) -> tuple[list[_Answer], Ints, Ints]:
    """Return the decided answers, the rebalance of each, and their figures."""
    figures = np.concatenate([answers.found.answers.figures for answers in coded])
    is_decided = figures[:, DECIDED] == 1
    sizes = [len(answers.found.assignors) for answers in coded]
    every = (
        (answers, place)
        for answers, size in zip(coded, sizes, strict=True)
        for place in range(size)
    )
    of = np.repeat(np.arange(len(coded)), sizes)[is_decided]
    return list(compress(every, is_decided)), of, figures[is_decided]


def _valid(count: int) -> dict[str, Any]:
    """Return the columns of answers that apply and are valid."""
    return {
        "applies": _same(True, count),
        "verdict": _same(_VERDICT, count),
        "violations": _empty_lists(count),
    }


def _of_each(chosen: Sequence[_Answer], figures: Ints) -> dict[str, Any]:
    """Return the columns that are computed answer by answer."""
    are_balanced = (figures[:, DEC_MIN_BALANCED] == 1).tolist()
    return {
        "judged_by": [
            JUDGE if answers.is_judged(place) else COLUMNS for answers, place in chosen
        ],
        **_loads([answers.found.answers.loads[place] for answers, place in chosen]),
        "evidence": [
            None if is_balanced else answers.evidence(place)
            for (answers, place), is_balanced in zip(chosen, are_balanced, strict=True)
        ],
        "assignment": [answers.texts[place] for answers, place in chosen],
    }


def _balance(figures: Ints, score_least: Ints) -> dict[str, Any]:
    """Return the columns of balance."""
    return {
        "kip54_score": figures[:, SCORE],
        "kip54_score_least": score_least,
        "kip54_balanced": figures[:, KIP54_BALANCED] == 1,
        "dec_min_balanced": figures[:, DEC_MIN_BALANCED] == 1,
    }


def _moves(
    figures: Ints, owned: Ints, moves_least: Ints, has_lag: Bools
) -> dict[str, Any]:
    """Return the columns of moves; ``has_lag``: that of needless moves is stated."""
    moves, withheld = owned - figures[:, KEPT], figures[:, WITHHELD]
    is_balanced = figures[:, DEC_MIN_BALANCED] == 1
    return {
        "kept": figures[:, KEPT],
        "moves": moves,
        "withheld": withheld,
        "moves_least": moves_least,
        "needless_lag": where(has_lag & is_balanced, figures[:, NEEDLESS_LAG]),
        "at_optimum": where(withheld == 0, is_balanced & (moves == moves_least)),
    }


def _harm(
    real: Sequence[CodedAnswers],
    figures: Ints,
    moves_least: Ints,
    score_least: Ints,
    is_actual: Bools,
    lasted: pa.Array,
) -> dict[str, pa.Array]:
    """Return the columns of harm; a decided answer assigns each partition once.

    ``real`` are the answers to the rebalances of which the real answer is decided.
    """
    places = np.flatnonzero(is_actual)
    withheld, moves = figures[places, WITHHELD], moves_least[places]
    members = np.array([len(answers.code.members) for answers in real], np.int64)
    counts = np.zeros((len(figures), len(HARM)), np.int64)
    for place in np.flatnonzero(withheld > moves).tolist():
        waiting = waiting_of(
            int(withheld[place]), int(moves[place]), real[place].n_rivals
        )
        counts[places[place], WAITING] = waiting
    scores = figures[places, SCORE], score_least[places], members
    transfers = least_transfers(*map(pa.array, scores))
    counts[places, IMBALANCE] = np.where(withheld == 0, transfers, ABSENT)
    return harm_columns(counts, pc.if_else(pa.array(is_actual), lasted, None))


def _proofs(assignors: Sequence[str]) -> dict[str, Any]:
    """Return the columns of proofs: only the optimum's are stated."""
    is_optimum = np.array(assignors, object) == OPTIMUM
    return {
        "status": ["optimal" if name == OPTIMUM else None for name in assignors],
        "proved_dec_min": is_optimum,
        "proved_stickiness": is_optimum,
    }


def _loads(loads: list[Ints]) -> dict[str, Any]:
    """Return the columns of loads, each largest first."""
    return {
        "loads": _lists(loads),
        "load_min": [int(load[-1]) if load.size else None for load in loads],
        "load_max": [int(load[0]) if load.size else None for load in loads],
    }


def _peak_lags(figures: Ints, bound: Ints) -> dict[str, Any]:
    """Return the columns of peak lag, null where the bound is `UNKNOWN`."""
    is_known = bound != UNKNOWN
    return {
        "peak_lag": where(is_known, figures[:, PEAK_LAG]),
        "peak_lag_bound": where(is_known, bound),
        "lag_spread": where(is_known, figures[:, LAG_SPREAD]),
        "proved_peak_lag": where(is_known, figures[:, IS_PEAK_LEAST] == 1),
    }


def _same(value: Any, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), count)


def _lists(values: list[Ints]) -> pa.Array:
    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    flat = np.concatenate([*values, np.zeros(0, np.int64)])
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(flat, pa.int64()))


def _empty_lists(count: int) -> pa.Array:
    kind = _SCHEMA.field("violations").type
    offsets = pa.array(np.zeros(count + 1, np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array([], kind.value_type))

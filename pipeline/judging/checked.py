"""The judge's verdicts on answers whose verdicts were computed from codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import orjson

from pipeline.cases import Held
from pipeline.evaluation import (
    ACTUAL,
    ALWAYS,
    JUDGE,
    AssignorAnswer,
    DisagreementError,
    answer_columns,
)
from pipeline.judging.coded_answers import CodedAnswers
from pipeline.judging.harm_counts import harm_of
from rebalance import ClaimRule, Int64
from verify import case_of, judge_case

Row: TypeAlias = dict[str, Any]


def checked(
    coded: CodedAnswers,
    canonical: Callable[[], dict[str, Any]],
    places: Iterable[int],
    claim_rule: ClaimRule,
    held: Callable[[], Mapping[str, Held]],
) -> Iterator[tuple[Row, Int64 | None]]:
    """Judge answers; yield the columns of those that were not decided.

    With the real answer comes its harm (`harm_of`). Answers of heuristics of which the
    documents differ in the name of the assignor alone have one verdict.

    Parameters
    ----------
    canonical, held
        As in `outcome_of_code`.

    Raises
    ------
    DisagreementError
        If a verdict is another one than that computed before.
    """
    case, undecided, verdicts = None, {*coded.undecided}, dict[str, Row]()
    for place in places:
        case = case or case_of(canonical(), claim_rule=claim_rule.value)
        name = coded.found.assignors[place]
        document = _document(coded, place, held)
        is_round = coded.is_round and name == ACTUAL
        key = name if name in ALWAYS else coded.texts[place].partition(",")[2]
        if key not in verdicts:
            verdicts[key] = judge_case(case, document, cooperative=is_round)
        verdict = verdicts[key]
        if place not in undecided:
            _compare(coded, place, verdict)
            continue
        answer = AssignorAnswer(
            assignor=name, assignment=document, verdict=verdict, judged_by=JUDGE
        )
        harm = harm_of(case, answer, coded.least) if name == ACTUAL else None
        yield _columns(coded, answer), harm


def _document(
    coded: CodedAnswers, place: int, held: Callable[[], Mapping[str, Held]]
) -> Row:
    """Return an answer's document; the real one states the partitions as reported."""
    document: Row = orjson.loads(coded.texts[place])
    if coded.found.assignors[place] == ACTUAL:
        document["members"] = held()
    return document


def _compare(coded: CodedAnswers, place: int, verdict: Row) -> None:
    """Compare the judge's verdict on a decided answer with that of its figures."""
    verdict.pop("id", None)
    if not coded.lag_known:  # of a part of the lag, no row states anything
        verdict["proved"]["peak_lag"] = False
    if verdict != coded.verdict(place):
        name = coded.found.assignors[place]
        reason = "the judge and the figures from columns differ"
        raise DisagreementError(f"{name}: {reason}: a defect; please report it")


def _columns(coded: CodedAnswers, answer: AssignorAnswer) -> Row:
    """Return the columns of an answer that was not decided."""
    row = answer_columns(answer, coded.least, coded.peak_lag_bound)
    return row | {"rack_mismatches": None, "needless_lag": None}

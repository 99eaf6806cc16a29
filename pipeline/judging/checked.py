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
        document = orjson.loads(coded.texts[place])
        if name == ACTUAL:
            document["members"] = held()
        is_round = coded.is_round and name == ACTUAL
        key = name if name in ALWAYS else coded.texts[place].partition(",")[2]
        if key not in verdicts:
            verdicts[key] = judge_case(case, document, cooperative=is_round)
        verdict = verdicts[key]
        if place in undecided:
            answer = AssignorAnswer(
                assignor=name, assignment=document, verdict=verdict, judged_by=JUDGE
            )
            row = answer_columns(answer, coded.least, coded.peak_lag_bound)
            row |= {"rack_mismatches": None, "needless_lag": None}
            is_actual = name == ACTUAL
            yield row, harm_of(case, answer, coded.least) if is_actual else None
            continue
        verdict.pop("id", None)
        if not coded.lag_known:  # of a part of the lag, no row states anything
            verdict["proved"]["peak_lag"] = False
        if verdict != coded.verdict(place):
            reason = "the judge and the figures from columns differ"
            raise DisagreementError(f"{name}: {reason}: a defect; please report it")

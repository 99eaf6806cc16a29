"""Assignors over a history: ranked by what they spoil, from an audit's answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.planning import rank
from pipeline.groups import HistoryAnswer, answers_of_group
from rebalance import SourceError
from tests.oracle.report.audits import Audit
from tests.oracle.report.scenes import CHAINED
from tests.support.shapes import CHAIN, Document


def answer(
    number: int,
    assignor: str,
    moves: int,
    *,
    balanced: bool = True,
    valid: bool = True,
    withheld: int = 0,
) -> HistoryAnswer:
    return HistoryAnswer(
        rebalance_id=str(number),
        assignor=assignor,
        applies=True,
        is_valid=valid,
        is_balanced=balanced,
        moves=moves,
        least=2,
        withheld=withheld,
    )


HISTORY = [
    answer(1, "actual", 5),
    answer(2, "actual", 4, balanced=False),
    answer(3, "actual", 3, balanced=False, withheld=3),
    *(answer(n, "optimum", 2) for n in (1, 2, 3)),
    *(answer(n, "good", 2) for n in (1, 2)),
    answer(3, "good", 3),
    *(answer(n, "worse", 9) for n in (1, 2, 3)),
    answer(1, "uneven", 0, balanced=False),
    *(answer(n, "uneven", 2) for n in (2, 3)),
    answer(1, "broken", 2, valid=False),
    *(answer(n, "broken", 2) for n in (2, 3)),
    HistoryAnswer(rebalance_id="1", assignor="picky", applies=False),
    *(answer(n, "picky", 2) for n in (2, 3)),
]


def test_the_order_and_what_would_have_been_saved() -> None:
    found = rank(HISTORY, ["range"])
    assert found.rebalances == 3
    names = [assignor.assignor for assignor in found.assignors]
    assert names == ["good", "worse", "uneven", "broken", "picky"]
    good = found.assignors[0]
    assert (good.applies, good.at_optimum, good.needless_moves) == (3, 2, 1)
    assert (good.moves, good.moves_saved, good.unbalanced_saved) == (7, 5, 1)
    assert found.assignors[1].moves_saved == -15
    picky = found.assignors[-1]  # compared on what both answered
    assert (picky.refused, picky.moves_saved) == (1, 3)
    assert found.actual is not None
    # A round that withholds partitions is no unbalanced end of a rebalance.
    assert (found.actual.unbalanced, found.actual.needless_moves) == (1, 3)


def test_without_the_groups_own_answers_nothing_is_compared() -> None:
    found = rank([answer(1, "good", 2)], [])
    assert (found.actual, found.advice) == (None, None)
    assert found.assignors[0].moves_saved is None


BEST: Document = {
    "format": "assignment/1",
    "members": {"a": {"t": [0]}, "b": {"t": [1]}, "c": {"u": [0]}, "d": {"v": [0]}},
}


def test_the_answers_of_an_audit(tmp_path: Path) -> None:
    made = Audit()
    for number in (1, 2):
        answers: dict[str, Document | str] = {"actual": CHAINED, "chain-sticky": BEST}
        answers["constrained-sticky"] = "no"
        made.rebalance(CHAIN, answers, generation=number, assignor="sticky")
    made.rebalance({**CHAIN, "group": "other"}, {"actual": CHAINED})
    folder = str(made.write(tmp_path / "audit"))
    history = answers_of_group(folder, "g")
    assert (history.group, history.used) == ("g", ("sticky",))
    found = rank(history.answers, history.used)
    assert found.rebalances == 2
    best, refused = found.assignors
    assert (best.assignor, best.at_optimum, best.moves) == ("chain-sticky", 2, 6)
    assert (best.moves_saved, best.unbalanced_saved) == (-6, 2)
    assert (refused.applies, refused.refused) == (0, 2)
    with pytest.raises(SourceError, match="near names: other"):
        answers_of_group(folder, "othr")
    with pytest.raises(SourceError, match="no folder of an audit"):
        answers_of_group("docs/examples/chain.json", "chain")

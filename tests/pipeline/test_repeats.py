"""Equal rebalances are evaluated once; this affects time and nothing else.

Reaches into ``pipeline.judging`` to compare outcomes with and without the sharing.
"""

from __future__ import annotations

import re
from itertools import chain
from random import Random
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark import cloudpickle
from pyspark.sql import DataFrame

from heuristics import ASSIGNORS
from pipeline.audit import stages
from pipeline.audit.judged import PART
from pipeline.audit.work import CASES
from pipeline.evaluation import DEFAULT
from pipeline.judging.canonical import canonical_form
from pipeline.judging.judge_rows import Settings, judge_rows
from pipeline.judging.outcome import Actual, Outcome, Question, outcome_of
from pipeline.judging.repeats import Repeats, is_sampled, repeats_of_process
from pipeline.sources.rows import CASE, ROWS
from pipeline.sources.sidecars import read_offsets
from rebalance import ClaimRule, DocumentError, InstanceError, rebalance_of
from tests.examples import costly
from tests.pipeline.recorded import CHURN, churn_rows, world_of
from tests.shapes import CHAIN, EVERY_FIELD, RACKS, SHAPES, Document, member, rebalance
from tests.strategies import LARGER, draw_any_assignment, rebalances

SIZE = 10_000


class Alone(Repeats):
    """Evaluates each rebalance under its own names."""

    def outcome_of(self, plain: dict[str, Any], question: Question) -> Outcome:
        document = rebalance_of(plain, max_partitions=question.max_partitions)
        form = canonical_form(plain, question)
        return outcome_of(document, question, is_sampled=is_sampled(form))


def question_of(
    document: Document,
    seed: int = 0,
    *,
    assignors: tuple[str, ...] = DEFAULT,
    client: str | None = "sticky",
) -> Question:
    """Ask for all assignors and an answer of the client that can break any rule."""
    rng = Random(seed)  # noqa: S311
    held = draw_any_assignment(rng, document)["members"] if document["members"] else {}
    return Question(
        claim_rule=rng.choice(list(ClaimRule)),
        assignors=assignors,
        actual=Actual(held=held, assignor=client, cooperative=rng.random() < 0.5),
        lag_known=rng.random() < 0.8,
        max_partitions=SIZE,
    )


def in_order(names: set[str], seed: int) -> dict[str, str]:
    """Return other names in the same order; an empty name stays empty."""
    rng = Random(seed)  # noqa: S311
    pool = {"~t00000000~", "~g~", '"', "\\", "é", "\uffff", "a b", "\n", "m00000001"}
    while len(pool) < len(names):
        pool.add("".join(rng.choices("~mgtä0,:\u2028", k=4)))
    kept = {""} & names
    chosen = sorted(rng.sample(sorted(pool), len(names - kept)))
    return dict(zip(sorted(names - kept), chosen, strict=True)) | {"": ""}


def renamed(document: Document, question: Question, seed: int) -> Any:
    """Return document and question with other names, equal in order."""
    actual = question.actual
    assert actual is not None
    members = {*document["members"], *actual.held}
    topics, racks, static = {*document["topics"]}, set[str](), set[str]()
    for held in actual.held.values():
        topics.update(held)
    for one in document["members"].values():
        topics.update(one["subscription"], one.get("owned", ()))
        racks.update({one["rack"]} if "rack" in one else ())
        static.update({one["instance_id"]} if "instance_id" in one else ())
    for one in document["topics"].values():
        racks.update(rack for listed in one.get("racks", ()) for rack in listed)
    member_of, topic_of, rack_of, static_of = (
        in_order(names, seed + i)
        for i, names in enumerate((members, topics, racks, static))
    )
    named: dict[str, Any] = {}
    for name, one in document["members"].items():
        new = one | {"subscription": [topic_of[t] for t in one["subscription"]]}
        if "owned" in one:
            new["owned"] = {topic_of[t]: held for t, held in one["owned"].items()}
        if "rack" in one:
            new["rack"] = rack_of[one["rack"]]
        if "instance_id" in one:
            new["instance_id"] = static_of[one["instance_id"]]
        named[member_of[name]] = new
    listed = {}
    for name, one in document["topics"].items():
        new = dict(one)
        if "racks" in one:
            new["racks"] = [[rack_of[rack] for rack in each] for each in one["racks"]]
        listed[topic_of[name]] = new
    other = document | {"group": '~g~"é', "topics": listed, "members": named}
    given = {
        member_of[name]: {topic_of[t]: numbers for t, numbers in held.items()}
        for name, held in actual.held.items()
    }
    return other, Question(
        claim_rule=question.claim_rule,
        assignors=question.assignors,
        actual=Actual(held=given, assignor="~a~", cooperative=actual.cooperative),
        lag_known=question.lag_known,
        max_partitions=SIZE,
    )


def refusal(document: Document, question: Question) -> str | None:
    try:
        Alone().outcome_of(document, question)
    except InstanceError as error:
        return str(error)
    return None


def agrees(document: Document, seed: int, assignors: tuple[str, ...]) -> None:
    """Assert that an outcome and its repetition under other names are unaffected."""
    repeats, alone = Repeats(), Alone()
    question = question_of(document, seed, assignors=assignors)
    reason = refusal(document, question)
    if reason is not None:  # too much lag
        with pytest.raises(InstanceError, match=re.escape(reason)):
            repeats.outcome_of(document, question)
        return
    expected = alone.outcome_of(document, question)
    assert repeats.outcome_of(document, question) == expected
    other, again = renamed(document, question, seed)
    assert repeats.outcome_of(other, again) == alone.outcome_of(other, again)
    is_shared = canonical_form(document, question) is not None
    assert repeats.found == (1 if is_shared else 0)


QUICK = tuple(name for name in DEFAULT if name != "lag-swaps")


@pytest.mark.heavy
@costly()
@given(rebalances(), st.integers(0, 1000))
@example(RACKS, 1)
@example(EVERY_FIELD, 2)
@example(CHAIN, 3)
def test_names_matter_only_by_their_order(document: Document, seed: int) -> None:
    agrees(document, seed, QUICK)


@pytest.mark.heavy
@costly()
@given(rebalances(LARGER), st.integers(0, 1000))
def test_names_of_larger_groups_matter_only_by_their_order(
    document: Document, seed: int
) -> None:
    agrees(document, seed, DEFAULT)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_on_the_named_shapes(name: str) -> None:
    agrees(SHAPES[name], 5, DEFAULT)


@pytest.mark.parametrize(
    "every",
    [
        25,
        pytest.param(4, marks=pytest.mark.heavy),
        pytest.param(1, marks=pytest.mark.nightly),
    ],
)
def test_the_recording_has_equal_rows_with_and_without(every: int) -> None:
    rows = churn_rows()
    cases = [row for row in rows if row["what"] == CASE][::every]
    filled = [{**dict.fromkeys(ROWS.names), **row} for row in cases]
    world = world_of(rows, CHURN / "topics.json")
    asked = Settings(
        cluster="c",
        world=type(world)(
            counts=world.counts,
            names=world.names,
            logs=read_offsets(CHURN / "offsets.json"),
        ),
        claim_rule=ClaimRule.NEWEST_CLAIM,
    )
    repeats = Repeats()
    alone = [list(judge_rows([one], asked, Alone())) for one in filled]
    assert list(judge_rows(filled, asked, repeats)) == list(chain(*alone))
    evaluated = repeats.evaluated
    assert list(judge_rows(reversed(filled), asked, repeats)) == list(
        chain(*reversed(alone))
    )
    assert repeats.evaluated == evaluated


def test_different_rebalances_have_different_forms() -> None:
    base = rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["u"])})
    others = [
        rebalance({"t": 2, "u": 1}, {"a": member(["t"]), "b": member(["t"])}),
        rebalance({"t": 1, "u": 2}, {"a": member(["t"]), "b": member(["u"])}),
        rebalance({"t": 2, "u": 1}, {"a": member(["t"], {"t": [0]}), "b": member([])}),
        base | {"id": "x"},
        base | {"members": base["members"] | {"c": member([])}},
    ]
    keys = set()
    for document in (base, *others):
        form = canonical_form(document, question_of(document))
        assert form is not None
        keys.add(form.key)
    assert len(keys) == len(others) + 1
    with_client = canonical_form(base, question_of(base, client=None))
    assert with_client is not None
    assert with_client.key not in keys


def test_a_nameless_rack_is_not_renamed() -> None:
    """An empty rack is special to ``sticky``; other racks are not."""
    racks = [{"t": {"partitions": 1, "racks": [[name]]}} for name in ("", "r", "s")]
    members = {"a": member(["t"])}
    forms = [canonical_form(d, question_of(d)) for d in (
        rebalance(topics, members) for topics in racks
    )]  # fmt: skip
    first, second, third = (form.key for form in forms if form is not None)
    assert first != second == third


def test_names_beyond_two_bytes_are_not_shared() -> None:
    """Java sorts U+1F600 before U+FF5E, Python after it."""
    document = rebalance(
        {"t": 3}, {"\uff5e": member(["t"]), "\U0001f600": member(["t"])}
    )
    question = question_of(document)
    assert canonical_form(document, question) is None
    expected = Alone().outcome_of(document, question)
    assert Repeats().outcome_of(document, question) == expected


def test_an_error_names_the_item_of_the_rebalance() -> None:
    document = rebalance({"t": 1}, {"a": member(["t", "t"])})
    with pytest.raises(DocumentError, match=r"\$\.members\.a\.subscription\[1\]"):
        Repeats().outcome_of(document, question_of(document))


def test_the_memory_is_bounded_and_the_oldest_is_dropped() -> None:
    documents = [
        rebalance({"t": count}, {"a": member(["t"]), "b": member(["t"])})
        for count in range(1, 5)
    ]
    asked = [question_of(one, assignors=("optimum", "range")) for one in documents]
    whole = Repeats()
    expected = [whole.outcome_of(*one) for one in zip(documents, asked, strict=True)]
    repeats = Repeats(most_bytes=2 * whole.bytes // 4 + 500)
    for i in (0, 1, 0, 2, 0, 1, 3):
        assert repeats.outcome_of(documents[i], asked[i]) == expected[i]
        assert repeats.bytes <= 2 * whole.bytes // 4 + 500
    assert (repeats.found, repeats.evaluated) == (2, 5)
    nothing = Repeats(most_bytes=0)
    assert nothing.outcome_of(documents[0], asked[0]) == expected[0]
    assert nothing.bytes == 0


def test_failures_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    repeats, question = Repeats(), question_of(CHAIN, assignors=("range",))
    with monkeypatch.context() as patched:
        patched.setattr(type(ASSIGNORS["range"]), "assign", fail)
        (failure,) = repeats.outcome_of(CHAIN, question).failures
        assert failure.assignor == "range"
    assert repeats.outcome_of(CHAIN, question).failures == ()


class Sent:
    """Stands in for a table; keeps the function as Spark sends it to a worker."""

    function = b""

    def mapInArrow(self, function: Any, _schema: Any) -> Sent:  # noqa: N802
        self.function = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
        return self


def test_bug_tasks_of_one_process_share_what_it_keeps() -> None:
    """Each task received a copy of its own, so all were evaluated once per task."""
    sent = Sent()
    case = next(row for row in churn_rows() if row["what"] == CASE)
    world = world_of(churn_rows(), CHURN / "topics.json")
    asked = Settings(
        cluster="c", world=world, claim_rule=ClaimRule.NEWEST_CLAIM, assignors=()
    )
    stages.judge(cast("DataFrame", sent), asked)
    rows = pa.RecordBatch.from_pylist([case | {PART: 0}], schema=CASES)
    known, judged = repeats_of_process(), []
    for evaluated in (1, 0):
        before = known.evaluated, known.found
        task = cloudpickle.loads(sent.function)
        judged.append([batch.to_pydict() for batch in task([rows])])
        after = known.evaluated, known.found
        assert after == (before[0] + evaluated, before[1] + 1 - evaluated)
    assert judged[0] == judged[1]

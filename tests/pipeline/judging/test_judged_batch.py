"""Instances of cases are those of the slow statement; rows do not depend on others.

Reaches into ``pipeline.judging`` to compare both statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.case_table import case_table
from pipeline.cases import (
    CLAIMS,
    OPEN,
    PREVIOUS,
    REST,
    Case,
    CaseMember,
    Episode,
    Held,
    Offsets,
    pack,
    unpack,
)
from pipeline.judging import instance_batch
from pipeline.judging.instances import ClusterFacts
from pipeline.judging.judge_rows import judge_rows
from pipeline.judging.partition_counts import CountSources
from pipeline.judging.settings import Settings
from pipeline.known_counts import KnownCounts
from pipeline.rows import case_row
from pipeline.side_files.sidecars import LogsFile, read_offsets
from pipeline.tables import SCHEMAS
from pipeline.topic_ids import text_of_id
from pipeline.topic_names import with_names
from rebalance import (
    OffsetReset,
    OracleError,
    instance_of,
)
from tests.pipeline.cluster_facts import usual_settings
from tests.pipeline.judging.judged_cases import rows_of
from tests.pipeline.recorded import CHURN, churn_rows, facts_of
from tests.references.naive_instances import (
    naive_instance,
    naive_instance_of_episode,
)

TOPICS = ("t", 'u"', "é", "a.b")
IDS = tuple(text_of_id(bytes([number]) * 16) for number in range(4))
NOW = 10_000_000


def drawn_cases(rng: Random, count: int) -> list[Case]:
    """Draw cases of records, most of which a document can state."""
    return [drawn_case(rng, number) for number in range(count)]


def drawn_case(rng: Random, number: int) -> Case:
    """Draw a case, sometimes with a topic that is stated by its id."""
    listed = IDS if rng.random() < 0.3 else TOPICS
    names = rng.sample(("m", "n\n", "ñ", "o", "p"), rng.randrange(5))
    at = None if rng.random() < 0.1 else rng.randrange(NOW)
    return Case(
        rebalance_id=f"0/{number}",
        group_id=rng.choice(('g"', "h")),
        source_kind="consumer-offsets",
        source="records",
        source_partition=0,
        source_offset=number,
        generation=rng.randrange(9),
        at=at,
        protocol="classic",
        client_assignor=rng.choice((None, "sticky")),
        cooperative=rng.random() < 0.4,
        owned_from=rng.choice((PREVIOUS, CLAIMS)),
        members={name: drawn_member(rng, listed) for name in names},
        left=rng.randrange(2),
        committed=None if rng.random() < 0.1 else drawn_offsets(rng),
        lag=drawn_offsets(rng) if rng.random() < 0.1 else None,
        least_sizes=drawn_sizes(rng, TOPICS) if rng.random() < 0.1 else None,
        state_at=rng.randrange(NOW) if rng.random() < 0.1 else None,
        recorded_sizes=drawn_sizes(rng, TOPICS) if rng.random() < 0.2 else None,
        undated_sizes=drawn_sizes(rng, listed) if rng.random() < 0.3 else None,
        episode_id="0/0",
        round=1,
        episode=drawn_episode(rng, names, listed) if rng.random() < 0.6 else None,
    )


def drawn_member(rng: Random, listed: tuple[str, ...]) -> CaseMember:
    """Draw a member with up to seven partitions of a topic."""
    claimed = drawn_held(rng, listed) if rng.random() < 0.5 else None
    return CaseMember(
        subscription=rng.sample(TOPICS, rng.randrange(4)),
        owned=drawn_held(rng, listed),
        assigned=None if rng.random() < 0.1 else drawn_held(rng, listed),
        generation=rng.choice((None, -1, 3, 4)),
        claimed=claimed,
        claimed_generation=None if claimed is None else 3,
        rack=rng.choice((None, "", "a", "b")),
        instance_id=rng.choice((None, None, "i", "j")),
        client_id="c",
        joined=rng.choice((None, False, True)),
    )


def drawn_held(rng: Random, listed: tuple[str, ...]) -> Held:
    """Draw partitions; few have a fault."""
    held = {
        topic: sorted(rng.sample(range(7), rng.randrange(1, 5)))
        for topic in sorted(rng.sample(listed, rng.randrange(4)))
    }
    if held and rng.random() < 0.04:
        held[min(held)] = [1, 1]
    return held


def drawn_offsets(rng: Random) -> Offsets:
    """Draw committed offsets."""
    topics = rng.sample(TOPICS, rng.randrange(4))
    return {topic: [(n, rng.randrange(9)) for n in range(5)] for topic in topics}


def drawn_sizes(rng: Random, listed: tuple[str, ...]) -> dict[str, int]:
    """Draw partition counts."""
    return {topic: rng.randrange(1, 8) for topic in rng.sample(listed, 2)}


def drawn_episode(rng: Random, names: list[str], listed: tuple[str, ...]) -> Episode:
    """Draw an episode; if it has several rounds, with what members owned before."""
    rounds = rng.randrange(1, 3)
    before = {name: drawn_held(rng, listed) for name in names if rng.random() < 0.7}
    return Episode(
        episode_id="0/0",
        first_generation=1,
        started_at=rng.choice((None, 0, NOW)),
        rounds=rounds,
        ended=rng.choice((REST, OPEN)),
        owned_from=PREVIOUS,
        withheld=0,
        unowned_partition_ms=rng.choice((None, 5)),
        source="records",
        before=before if rounds > 1 else None,
    )


def drawn_facts(rng: Random) -> ClusterFacts:
    """Draw what is known of topics."""
    logs = {
        topic: {
            number: (first, first + rng.randrange(4, 30))
            for number in range(8)
            for first in [rng.randrange(4)]
            if rng.random() < 0.97
        }
        for topic in TOPICS
        if rng.random() < 0.9
    }
    named = dict(zip(IDS, (*TOPICS[:3], rng.choice(TOPICS)), strict=True))
    if rng.random() < 0.3:
        named.pop(IDS[3])
    return ClusterFacts(
        counts=CountSources(
            at_end={t: rng.randrange(1, 9) for t in TOPICS if rng.random() < 0.5},
            dated=drawn_steps(rng, 0.2),
            shown=drawn_steps(rng, 0.8),
        ),
        names=named,
        logs=LogsFile(ends=logs, at=rng.choice((None, NOW, NOW // 2))),
        monitored={'g"': dict(drawn_lag(rng))} if rng.random() < 0.3 else {},
        offset_reset=rng.choice((OffsetReset.EARLIEST, OffsetReset.LATEST)),
        max_partitions=rng.choice((20, 1_000)),
    )


def drawn_lag(rng: Random) -> Iterator[tuple[str, dict[int, int]]]:
    """Draw the lag that a monitoring system reported, of some topics and partitions."""
    for topic in TOPICS:
        numbers = [number for number in range(8) if rng.random() < 0.9]
        yield topic, {number: rng.randrange(9) for number in numbers}


def drawn_steps(rng: Random, share: float) -> KnownCounts:
    """Draw counts that grow, and sometimes a deletion."""
    found = {}
    for topic in TOPICS:
        if rng.random() < share:
            times = sorted(rng.sample(range(0, NOW, 100_000), 4))
            counts = sorted(rng.sample(range(1, 9), 4))
            counts[2] = rng.choice((0, counts[2]))
            found[topic] = tuple(zip(times, counts, strict=True))
    return KnownCounts(found)


def settings_of(facts: ClusterFacts, **more: Any) -> Settings:
    """Return settings with few heuristics."""
    assignors = ("optimum", "range", "cooperative-sticky")
    return usual_settings(facts, assignors=assignors, **more)


def counted(found: Any) -> Counter[str]:
    """Return rows without order."""
    return Counter(f"{name} {sorted(row.items(), key=str)}" for name, row in found)


def judged(cases: list[Case], settings: Settings) -> Counter[str]:
    """Return the rows of cases that are judged together."""
    return counted(full(rows_of(judge_rows(map(case_row, cases), settings))))


def by_themselves(cases: list[Case], settings: Settings) -> Counter[str]:
    """Return the rows of cases that are judged one by one."""
    found: Counter[str] = Counter()
    for case in cases:
        found += judged([case], settings)
    return found


def full(found: Any) -> Any:
    """Yield rows as tables have them."""
    for name, row in found:
        (as_read,) = pa.Table.from_pylist([row], SCHEMAS[name]).to_pylist()
        yield name, as_read


@given(seed=st.integers(0, 2**32), are_optima_judged=st.booleans())
def test_cases_judged_together_have_the_rows_that_each_has_by_itself(
    seed: int, *, are_optima_judged: bool
) -> None:
    rng = Random(seed)  # noqa: S311
    cases = drawn_cases(rng, 6)
    settings = settings_of(drawn_facts(rng), are_optima_judged=are_optima_judged)
    assert judged(cases, settings) == by_themselves(cases, settings)


def instances_of(cases: list[Case], settings: Settings) -> dict[str, Any]:
    """Return columns of ``rebalances`` and ``episodes``, by rebalance."""
    found: dict[str, Any] = {}
    for name, row in full(rows_of(judge_rows(map(case_row, cases), settings))):
        if name == "rebalances":
            stated = (row["partition_counts"], row["newer_partitions"])
            lag = (row["lag_known"], row["lag_basis"], row["lag_missing"])
            found[row["rebalance_id"]] = row["instance"], *stated, *lag
        if name == "episodes":
            found[f"to {row['last_rebalance_id']}"] = row["instance"]
        if name == "quarantine" and "episode" not in row["reason"]:
            found[f"not {row['source_offset']}"] = row["reason"]
    return found


def stated_slowly(case: Case, settings: Settings) -> dict[str, Any]:
    """Return the same of one case, or the error that its fault is."""
    facts, key = settings.facts, case.rebalance_id
    try:
        case = with_names(case, facts.names)
        found = naive_instance(case, facts)
        instance_of(found.document)
    except OracleError as error:
        return {f"not {case.source_offset}": error}
    lag = (found.lag_known, found.lag_basis, found.lag_missing)
    counts = (found.partition_counts, found.newer_partitions)
    stated: dict[str, Any] = {key: (found.text, *counts, *lag)}
    if case.episode is not None:
        before = case.episode.before
        if before is not None:
            found = naive_instance_of_episode(case, before, facts)
        stated[f"to {key}"] = found.text
    return stated


def assert_are_equal(cases: list[Case], settings: Settings) -> None:
    """Assert that instances are those of the slow statement, and faults, too."""
    found = instances_of(cases, settings)
    for case in cases:
        for key, stated in stated_slowly(case, settings).items():
            if isinstance(stated, Exception):
                assert f"{type(stated).__name__}: {stated}" in found[key]
            elif key in found or not key.startswith(
                "to "
            ):  # an episode can have faults
                assert found[key] == stated


@given(seed=st.integers(0, 2**32))
def test_instances_are_those_of_the_slow_statement(seed: int) -> None:
    rng = Random(seed)  # noqa: S311
    cases = [unpack(pack(case)) for case in drawn_cases(rng, 4)]
    settings = replace(settings_of(drawn_facts(rng)), assignors=("optimum",))
    assert_are_equal(cases, settings)


def test_cases_of_many_partitions_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance_batch, "MOST_PARTITIONS", 10)
    rng = Random(8)  # noqa: S311
    cases = drawn_cases(rng, 12)
    settings = settings_of(drawn_facts(rng))
    assert judged(cases, settings) == by_themselves(cases, settings)


def test_long_names_have_room() -> None:
    """Each is longer than all that a text has besides names."""
    topic, name, rack, static = (letter * 5_000 for letter in "tmri")
    member = CaseMember(
        subscription=[topic],
        owned={topic: [0]},
        assigned={topic: [0, 1]},
        rack=rack,
        instance_id=static,
    )
    case = replace(drawn_case(Random(1), 1), at=None, members={name: member})  # noqa: S311
    facts = ClusterFacts(counts=CountSources(at_end={topic: 2}))
    found = instances_of([case], settings_of(facts))
    assert found[case.rebalance_id][0] == naive_instance(case, facts).text


@given(st.integers(0, 2**32))
def test_a_packed_case_is_unpacked(seed: int) -> None:
    case = drawn_case(Random(seed), 1)  # noqa: S311
    found = unpack(pack(case))
    assert pack(found) == pack(case)
    assert {**(found.members or {})}.keys() == {**(case.members or {})}.keys()
    assert (found.episode, found.committed) == (case.episode, case.committed)


def odd_texts(change: dict[str, Any]) -> list[bytes]:
    texts = [pack(case) for case in drawn_cases(Random(5), 3)]  # noqa: S311
    odd = unpack(texts[1])
    for name, value in change.items():
        object.__setattr__(odd, name, value)
    return [texts[0], pack(odd), texts[2]]


def test_a_number_that_is_too_large_for_its_column_is_no_table() -> None:
    with pytest.raises(pa.ArrowException, match="1099511627776"):
        case_table(odd_texts({"generation": 2**40}))


@pytest.mark.heavy
def test_recorded_instances_are_those_of_the_slow_statement() -> None:
    cases = [unpack(row["value"]) for row in churn_rows() if row["what"] == "case"]
    facts = facts_of(churn_rows(), CHURN / "topics.json")
    logs = read_offsets(CHURN / "offsets.json")
    assert_are_equal(cases, settings_of(replace(facts, logs=logs)))

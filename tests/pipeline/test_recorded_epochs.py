"""Groups of the new protocol (KIP-848) compared with what the consumers observed.

``_callbacks.jsonl.gz`` contains the increments that librdkafka reported, and what the
driver asked for. Partitions are what the callbacks add up to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest

from heuristics import ASSIGNORS
from pipeline.cases import OPEN, REST, Case
from pipeline.history.stream import histories
from pipeline.judging.instance_batch import instance_of_case
from pipeline.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupTombstone,
    decode_record,
)
from pipeline.rows import MISSING, QUARANTINED, RECORD, Row
from rebalance import document_of, instance_of
from tests.pipeline.local_reading import cases_of
from tests.pipeline.recorded import (
    CHURN,
    FIRST_LOOK,
    LATE_MS,
    Pairs,
    assigned_pairs,
    churn_callbacks,
    churn_records,
    churn_rows,
    described_states,
    facts_of,
    first_look_rows,
    in_order,
    named_cases,
    named_pairs,
    pairs,
)

GROUPS = ("next-range", "next-uniform")
EARLY_MS = 500  # a callback of a revocation runs before the broker is told
GONE_MS = 7_000  # a member that leaves has revoked this much before its tombstone


class Callback(NamedTuple):
    """Partitions of a consumer after a callback."""

    event: str
    at: int
    held: Pairs


class Recorded(NamedTuple):
    """Partitions of a member according to a record; None: its tombstone."""

    at: int
    held: Pairs | None


@cache
def cases() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for case in named_cases(churn_rows()):
        found[case.group_id].append(case)
    return dict(found)


@cache
def events() -> tuple[dict[str, Any], ...]:
    return tuple(event for event in churn_callbacks() if event["group"] in GROUPS)


@cache
def callbacks_of_members() -> dict[str, list[Callback]]:
    """Return each member's callbacks with what they add up to."""
    found: dict[str, list[Callback]] = defaultdict(list)
    for event in events():
        if event["event"] not in ("assign", "revoke", "lost"):
            continue
        before = found[event["member"]]
        held = before[-1].held if before else frozenset()
        changed = pairs(event["partitions"])
        held = held | changed if event["event"] == "assign" else held - changed
        before.append(Callback(event["event"], event["ms"], held))
    return dict(found)


@cache
def recorded() -> dict[str, list[Recorded]]:
    """Return the records of each member's present assignment."""
    names = facts_of(churn_rows()).names
    found: dict[str, list[Recorded]] = defaultdict(list)

    for row in churn_records():
        record = decode_record(row["key"], row["value"])
        if isinstance(record, ConsumerGroupCurrentMemberAssignment):
            one = Recorded(row["at"], named_pairs(record.assigned, names))
            found[record.member_id].append(one)
        elif isinstance(record, ConsumerGroupTombstone) and record.subject:
            found[record.subject].append(Recorded(row["at"], None))
    return dict(found)


@pytest.mark.heavy
def test_every_epoch_of_the_recording() -> None:
    assert {group: len(found) for group, found in cases().items()} == {
        "next-range": 66,
        "next-uniform": 62,
    }
    quarantined = [row for row in churn_rows() if row["what"] in QUARANTINED]
    assert {row["record"] for row in quarantined} == {"generation"}
    for group, found in cases().items():
        epochs = [case.generation or 0 for case in found]
        assert epochs == sorted(set(epochs)), group
        assert {case.client_assignor for case in found} == {
            "server-range" if group == "next-range" else "uniform"
        }
    everything = [case for found in cases().values() for case in found]
    episodes = [case.episode for case in everything if case.episode is not None]
    assert sum(episode.rounds for episode in episodes) == 128
    assert Counter(episode.ended for episode in episodes) == {REST: 91}
    assert Counter(case.behind == 0 for case in everything) == {True: 91, False: 37}


@pytest.mark.heavy
def test_every_callback_is_in_the_records() -> None:
    """All 962; after 34 of them a member that is gone, or about to leave, has none."""
    compared, leaving = 0, []
    for member, callbacks in callbacks_of_members().items():
        for callback in callbacks:
            compared += 1
            lags = [
                callback.at - r.at
                for r in recorded()[member]
                if r.held == callback.held
            ]
            if any(-EARLY_MS <= lag <= LATE_MS for lag in lags):
                continue
            gone = [r.at for r in recorded()[member] if r.held is None]
            assert not callback.held, (member, callback)
            assert any(-LATE_MS <= at - callback.at <= GONE_MS for at in gone), callback
            leaving.append(callback.event)
    assert compared == 962
    assert Counter(leaving) == {"revoke": 31, "lost": 3}


@pytest.mark.parametrize("group", GROUPS)
def test_members_held_the_target_of_every_epoch_that_was_reached(group: str) -> None:
    compared = 0
    for case in cases()[group]:
        if case.behind:
            continue
        assert case.at is not None
        assert case.reached_ms is not None
        reached = case.at + case.reached_ms
        for name, member in (case.members or {}).items():
            compared += 1
            held = held_between(name, case.at - EARLY_MS, reached + LATE_MS)
            assert pairs(member.assigned) in held, (case.generation, name)
    assert compared == {"next-range": 172, "next-uniform": 327}[group]


def held_between(member: str, begin: int, end: int) -> set[Pairs]:
    """Return what a consumer had at some moment of a time, nothing if it is new."""
    states = [Callback("new", 0, frozenset()), *callbacks_of_members().get(member, [])]
    ends = [state.at for state in states[1:]] + [end]
    return {
        state.held
        for state, until in zip(states, ends, strict=True)
        if state.at <= end and until >= begin
    }


@pytest.mark.parametrize("group", GROUPS)
def test_subscriptions_are_those_of_the_driver(group: str) -> None:
    acts: dict[str, list[tuple[int, list[str]]]] = defaultdict(list)
    for event in events():
        if event["event"] in ("start", "subscribe"):
            acts[event["client"]].append((event["ms"], event["topics"]))
    for case in cases()[group]:
        assert case.at is not None
        for member in (case.members or {}).values():
            subscribed = [a for a in acts[member.client_id or ""] if a[0] <= case.at]
            # a change is sent with the next heartbeat
            count = 2 if case.at - subscribed[-1][0] <= LATE_MS else 1
            wanted = [_matches(topics) for _, topics in subscribed[-count:]]
            if member.subscription:
                assert member.subscription in wanted
            else:  # an expression that the coordinator has not resolved yet
                assert (group, case.generation) == ("next-uniform", 36)


def _matches(topics: list[str]) -> list[str]:
    """Resolve the one regular expression of the recording, or sort the topics."""
    if topics == ["^feed\\..*"]:
        return ["feed.likes", "feed.posts"]
    return sorted(topics)


@pytest.mark.parametrize(
    ("group", "name", "equal"),
    [("next-range", "server-range", 66), ("next-uniform", "uniform", 41)],
)
def test_our_assignors_compute_the_recorded_targets(
    group: str, name: str, equal: int
) -> None:
    """All of ``range``; ties of ``uniform`` depend on ids that ours does not see."""
    assert _equal(group, name) == (equal, len(cases()[group]))


def _equal(group: str, name: str) -> tuple[int, int]:
    facts = facts_of(churn_rows(), CHURN / "topics.json")
    equal = 0
    for case in cases()[group]:
        instance = instance_of(instance_of_case(case, facts).document)
        ours = document_of(instance, ASSIGNORS[name].assign(instance), assignor=name)
        equal += {m: pairs(held) for m, held in ours.members.items()} == assigned_pairs(
            case
        )
    return equal, len(cases()[group])


def test_described_states_equal_the_members_partitions() -> None:
    """Each text shows what the members had at one moment, also in transit."""
    compared = []
    for name, case in described_states():
        if case.group_id not in GROUPS:
            continue
        described = assigned_pairs(case)
        times = {state.at for member in described for state in recorded()[member]}
        assert any(
            all(_had(member, at) == held for member, held in described.items())
            for at in times
        ), name
        compared.append((case.group_id, len(described)))
    assert compared == [
        ("next-range", 4),
        ("next-range", 5),
        ("next-range", 5),
        ("next-uniform", 6),
        ("next-uniform", 5),
        ("next-uniform", 6),
        ("next-uniform", 5),
    ]


def _had(member: str, at: int) -> Pairs | None:
    before = [state for state in recorded()[member] if state.at <= at]
    return before[-1].held if before else None


def test_the_short_recording() -> None:
    """Its log of callbacks states what each consumer had when the group was stable."""
    rows = first_look_rows()
    quarantined = [row for row in rows if row["what"] in QUARANTINED]
    assert {row["record"] for row in quarantined} == {"generation"}
    found = {(c.group_id, c.generation): c for c in named_cases(rows)}
    given = {
        key: {m.client_id: pairs(m.assigned) for m in (case.members or {}).values()}
        for key, case in found.items()
    }
    orders = frozenset(("orders", n) for n in range(6))
    payments = frozenset(("payments", n) for n in range(3))
    audit = frozenset(("audit", n) for n in range(4))
    low = frozenset(("orders", n) for n in range(3))
    half = frozenset({("audit", 0), ("audit", 1)})
    assert given == {
        ("g-848", 2): {"c848-1": orders | payments},
        ("g-848", 4): {"c848-0": low, "c848-1": payments, "c848-2": orders - low},
        ("g-848-range", 2): {"c848r-0": orders | audit},
        ("g-848-range", 3): {
            "c848r-0": low | half,
            "c848r-1": (orders | audit) - low - half,
        },
        ("g-848-regex", 2): {
            "c848x": orders | {("orders.v2_test", 0), ("orders.v2_test", 1)}
        },
    }
    (regex,) = (found["g-848-regex", 2].members or {}).values()
    assert regex.subscription == ["orders", "orders.v2_test"]
    assert found["g-848", 4].reached_ms == 5045
    assert not [c for c in found.values() if c.episode and c.episode.ended == OPEN]
    instance = instance_of_case(
        found["g-848", 4],
        facts_of(rows, FIRST_LOOK / "topics.json"),
    )
    assert instance.document.topics["orders"].partitions == 6


@cache
def broker_records() -> tuple[Row, ...]:
    """Return the records of these groups in order."""
    rows = [row for row in churn_records() if row["group_id"] in GROUPS]
    return tuple(in_order(rows))


@pytest.mark.parametrize(
    "part", [0.02, 0.1, 0.2, 0.31, 0.4, 0.5, 0.6, 0.77, 0.9, 0.999]
)
@pytest.mark.parametrize("compacted", [True, False], ids=["compacted", "cut"])
def test_missing_records_are_never_guessed(part: float, compacted: bool) -> None:
    """A part of the records yields the cases of all of them, or reports them missing.

    Compaction keeps the last record of each key. A topic that is not read from its
    beginning lacks members, which shows once they are mentioned.
    """
    rows = [row for row in broker_records() if row["what"] == RECORD]
    kept: list[Row] = []
    targets = 0
    for group in GROUPS:
        ours = [row for row in rows if row["group_id"] == group]
        end = int(part * len(ours))
        latest = {row["key"]: row for row in ours[:end]} if compacted else {}
        kept += [row for row in ours[:end] if latest.get(row["key"]) is row]
        kept += ours[end:]
        targets += sum(row["key"][:2] == b"\x00\x06" for row in ours[end:])
    found = tuple(histories(kept))
    whole = {case.rebalance_id: case for group in GROUPS for case in cases()[group]}
    names = facts_of(churn_rows()).names
    again = cases_of(found, names)
    for case in again:
        assert _facts(case) == _facts(whole[case.rebalance_id])
    missing = [row for row in found if row["what"] == MISSING]
    assert missing or part == 0.999
    if compacted:  # at most the first two of each group are lost
        assert len(again) >= targets - 2 * len(GROUPS)


def _facts(case: Case) -> Any:
    """Return what does not depend on the records before, except for the last target."""
    members = {
        name: replace(member, claimed=None, claimed_generation=None)
        for name, member in (case.members or {}).items()
    }
    return case.generation, case.left, case.resubscribed, case.behind, members

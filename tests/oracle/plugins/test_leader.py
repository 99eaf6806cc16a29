"""Assignments of our leader, compared with the command line; and its fallbacks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given

import verify
from heuristics import ASSIGNORS, Assignor
from oracle.plugins import Choice, Joining, Leader, Memory, Mode, chosen, settings_of
from oracle.plugins.choice import Assign
from oracle.plugins.leader import LagSource, round_robin
from rebalance import (
    Assignment,
    Instance,
    document_of,
    instance_of,
    parse_rebalance,
    to_json,
)
from rebalance.protocol import (
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_subscription,
)
from solver import Limits
from tests.oracle.cli.commands import Cli
from tests.support import amount
from tests.support.shapes import Document, rebalance
from tests.support.strategies import rebalances, seeded_rebalance

CHAIN = chosen("chain-sticky")
CHAIN_LEADER = Leader(choice=CHAIN, fallback=CHAIN, seconds=5)
SEEDS = range(40)


def joined(document: Document, mode: Mode = Mode.EAGER) -> list[Joining]:
    """Let the members of a document join, each through its own bytes."""
    return [
        Joining(
            member_id=member_id,
            subscription=decode_subscription(encode_subscription(_said(member, mode))),
            instance_id=member.get("instance_id"),
        )
        for member_id, member in document["members"].items()
    ]


def _said(member: Document, mode: Mode) -> Subscription:
    memory = Memory()
    if "owned" in member:
        held = [(t, n) for t, numbers in member["owned"].items() for n in numbers]
        memory.remember(held, member.get("generation", -1))
    rack = member.get("rack")
    return memory.subscription(member["subscription"], mode=mode, rack=rack)


def counts(document: Document) -> dict[str, int]:
    return {name: topic["partitions"] for name, topic in document["topics"].items()}


def racks(document: Document) -> dict[str, list[list[str]]] | None:
    stated = {n: t["racks"] for n, t in document["topics"].items() if "racks" in t}
    return stated or None


def lags(document: Document) -> dict[str, list[int]]:
    return {n: t["lag"] for n, t in document["topics"].items() if "lag" in t}


def held(given: dict[str, bytes]) -> dict[str, dict[str, list[int]]]:
    return {
        member_id: {
            t: list(numbers) for t, numbers in decode_assignment(data).partitions
        }
        for member_id, data in given.items()
    }


def leader_for(document: Document, algorithm: str, policy: str = "sticky") -> Leader:
    settings = settings_of(
        algorithm, policy=policy, name="mine", lag=lambda _: lags(document)
    )
    return settings.leader


def plain(seed: int) -> Document:
    """Draw a rebalance without capacities, which no client can send."""
    document = seeded_rebalance(seed)
    for member in document["members"].values():
        member.pop("capacity", None)
    return document


def is_for(heuristic: Assignor, document: Document) -> bool:
    instance = instance_of(parse_rebalance(json.dumps(document)))
    return heuristic.refuses(instance) is None


@pytest.mark.parametrize("algorithm", ["oracle", *ASSIGNORS])
def test_the_same_as_on_the_command_line(
    algorithm: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "rebalances.jsonl"
    verb = ["solve"] if algorithm == "oracle" else ["assign", "--assignor", algorithm]
    documents = [plain(seed) for seed in SEEDS]
    if algorithm != "oracle":
        documents = [
            document for document in documents if is_for(ASSIGNORS[algorithm], document)
        ]
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    answers = Cli(capsysbinary)(*verb, file).documents
    assert len(answers) == len(documents) >= 15
    for document, answer in zip(documents, answers, strict=True):
        given = leader_for(document, algorithm).assign(
            joined(document), counts(document), racks=racks(document)
        )
        assert held(given) == answer["members"]


@pytest.mark.heavy
@given(rebalances())
def test_round_robin_is_valid(document: Document) -> None:
    instance = instance_of(parse_rebalance(json.dumps(document)))
    given = document_of(instance, round_robin(instance), assignor="round-robin")
    assert judged(document, json.loads(to_json(given))) == "valid"


def judged(document: Document, answer: Document) -> str:
    return str(verify.judge(document, answer)["verdict"])


class BrokenError(Exception):
    pass


def _raises(instance: Instance, limits: Limits) -> Assignment:
    raise BrokenError


def _exits(instance: Instance, limits: Limits) -> Assignment:
    raise SystemExit(1)


@pytest.mark.parametrize("fault", [_raises, _exits])
def test_an_error_selects_the_fallback(
    fault: Assign, caplog: pytest.LogCaptureFixture
) -> None:
    document = plain(3)
    broken = Choice(name="broken", assign=fault)
    leader = Leader(choice=broken, fallback=CHAIN, seconds=5)
    given = leader.assign(joined(document), counts(document))
    whole = Leader(choice=CHAIN, fallback=CHAIN, seconds=5)
    assert given == whole.assign(joined(document), counts(document))
    assert "broken returned no assignment; using chain-sticky" in caplog.text


def test_a_time_limit_selects_the_fallback_and_stops_the_search() -> None:
    stopped = Event()

    def hang(instance: Instance, limits: Limits) -> Assignment:
        stopped.set() if limits.stop.wait(60) else None
        raise BrokenError

    document = plain(3)
    leader = Leader(
        choice=Choice(name="hang", assign=hang), fallback=CHAIN, seconds=0.01
    )
    given = leader.assign(joined(document), counts(document))
    assert given.keys() == document["members"].keys()
    assert stopped.wait(10)


def test_the_last_resort_is_round_robin() -> None:
    document = plain(3)
    broken = Choice(name="broken", assign=_raises)
    leader = Leader(choice=broken, fallback=broken, seconds=5)
    given = held(leader.assign(joined(document), counts(document)))
    answer = {"format": "assignment/1", "members": given}
    assert judged(document, answer) == "valid"


def test_a_policy_that_cannot_be_met_is_replaced() -> None:
    members = {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}}
    document = rebalance({"t": {"partitions": 3}}, members)
    leader = leader_for(document, "oracle", "spread=0; stickiness")
    given = held(leader.assign(joined(document), counts(document)))
    assert sorted(len(topics["t"]) for topics in given.values()) == [1, 2]


def nonsense(_: Mapping[str, int]) -> dict[str, list[int]]:
    return {"t": [-1]}


def failing(_: Mapping[str, int]) -> dict[str, list[int]]:
    raise BrokenError


@pytest.mark.parametrize("source", [nonsense, failing])
def test_unavailable_lag_is_omitted(
    source: LagSource, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_of("lag-aware", lag=source)
    member = Joining(
        member_id="a", subscription=Memory().subscription(["t"], mode=Mode.EAGER)
    )
    assert held(settings.leader.assign([member], {"t": 1})) == {"a": {"t": [0]}}
    assert "without it" in caplog.text
    assert "the instance tells no lag" in caplog.text


def test_lag_counts() -> None:
    document = rebalance(
        {"t": {"partitions": 3, "lag": [5, 3, 2]}},
        {"a": {"subscription": ["t"]}, "b": {"subscription": ["t"]}},
    )
    leader = leader_for(document, "oracle", "none; peak-lag")
    given = held(leader.assign(joined(document), counts(document)))
    assert sorted(topics["t"] for topics in given.values()) == [[0], [1, 2]]


def claiming(*numbers: int, generation: int = 4) -> Subscription:
    memory = Memory()
    memory.remember([("t", n) for n in numbers], generation)
    return memory.subscription(["t"], mode=Mode.COOPERATIVE)


def test_cooperative_gives_nothing_before_it_is_revoked() -> None:
    leader = settings_of("chain-sticky", name="cooperative-sticky").leader
    a, b = claiming(0, 1, 2, 3), Memory().subscription(["t"], mode=Mode.COOPERATIVE)
    first = _round(leader, a, b)
    kept = first["a"]["t"]
    assert (len(kept), first["b"]) == (2, {})
    second = _round(leader, claiming(*kept, generation=5), claiming(generation=5))
    assert second["a"] == {"t": kept}
    assert sorted(second["b"]["t"] + kept) == [0, 1, 2, 3]


def test_cooperative_waits_for_a_member_that_missed_a_generation() -> None:
    """It still reads what it claims, although the group is at a newer generation."""
    leader = settings_of("chain-sticky", name="cooperative-sticky").leader
    late, now = claiming(0, 1, 2, generation=3), claiming(3, generation=4)
    first = _round(leader, late, now)
    kept = first["a"]["t"]
    assert (len(kept), first["b"]) == (2, {"t": [3]})
    second = _round(leader, claiming(*kept, generation=5), claiming(3, generation=5))
    assert second["a"] == {"t": kept}
    assert sorted(second["b"]["t"] + kept) == [0, 1, 2, 3]


def test_cooperative_ends_a_claim_with_a_newer_one_on_the_same_partition() -> None:
    leader = settings_of("chain-sticky", name="cooperative-sticky").leader
    late, now = claiming(0, 1, 2, 3, generation=3), claiming(2, 3, generation=4)
    given = _round(leader, late, now)
    assert given == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}


def test_cooperative_does_not_end_a_claim_without_a_generation() -> None:
    leader = settings_of("chain-sticky", name="cooperative-sticky").leader
    unknown, now = claiming(0, 1, 2, 3, generation=-1), claiming(2, 3, generation=4)
    given = _round(leader, unknown, now)
    assert given == {"a": {"t": [0, 1]}, "b": {}}


@pytest.mark.parametrize("algorithm", ["oracle", "chain-sticky", "range"])
def test_cooperative_rounds_are_valid(algorithm: str) -> None:
    """Whatever is claimed: stale, twice, without a generation, or of other topics."""
    leader = settings_of(algorithm, name="cooperative-sticky").leader
    for seed in amount.seeds(400):
        document = plain(seed)
        said = joined(document, Mode.COOPERATIVE)
        given = held(leader.assign(said, counts(document)))
        answer = {"format": "assignment/1", "members": given}
        verdict = verify.judge(document, answer, cooperative=True)
        assert verdict["verdict"] == "valid", verdict["violations"]


def _round(
    leader: Leader, a: Subscription, b: Subscription
) -> dict[str, dict[str, list[int]]]:
    members = [
        Joining(member_id="a", subscription=a),
        Joining(member_id="b", subscription=b),
    ]
    return held(leader.assign(members, {"t": 4}))


def test_invalid_user_data_is_no_claim(
    caplog: pytest.LogCaptureFixture,
) -> None:
    junk = Subscription(version=1, topics=("t",), user_data=b"\0\0\0\x07")
    good = Memory()
    good.remember([("t", 1)], 3)
    given = CHAIN_LEADER.assign(
        [
            Joining(member_id="a", subscription=junk),
            Joining(
                member_id="b", subscription=good.subscription(["t"], mode=Mode.EAGER)
            ),
        ],
        {"t": 2},
    )
    assert held(given) == {"a": {"t": [0]}, "b": {"t": [1]}}
    assert caplog.record_tuples == []


def test_empty_groups_and_topics() -> None:
    assert CHAIN_LEADER.assign([], {}) == {}
    alone = Memory().subscription(["gone"], mode=Mode.EAGER)
    given = CHAIN_LEADER.assign([Joining(member_id="a", subscription=alone)], {})
    assert held(given) == {"a": {}}


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({"algorithm": "best"}, "no assignor 'best'; there are: oracle, range"),
        ({"algorithm": "oracle", "policy": "good"}, "good"),
        ({"algorithm": "range", "seconds": 0}, "seconds: 0"),
        ({"algorithm": "range", "fallback": "none"}, "no assignor 'none'"),
        ({"algorithm": "cooperative-sticky", "mode": Mode.EAGER}, "not eager"),
    ],
)
def test_refused_when_it_is_made(stated: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        settings_of(**stated)

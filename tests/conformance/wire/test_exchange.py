"""A rebalance as the leader sees it, and its answer."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.clients import Verdict
from conformance.wire import DIALECTS, Dialect, WrittenAs
from conformance.wire.dialects import written_version
from conformance.wire.leader_exchange import INT32_MAX, LeaderExchange, exchange_of
from rebalance import WireError, rebalance_of
from rebalance.protocol import (
    UNKNOWN_GENERATION,
    decode_generation,
    decode_sticky_user_data,
    decode_subscription,
    member_claim,
)
from tests.conformance.wire.client import assigned
from tests.support.shapes import rebalance

GROUP = rebalance(
    {"u": {"partitions": 2}, "b": {"partitions": 0}, "t": {"partitions": 3}},
    {
        "m1": {
            "subscription": ["u", "t"],
            "owned": {"t": [2, 0], "gone": [1]},
            "generation": 4,
            "rack": "r",
            "instance_id": "s",
        },
        "m0": {"subscription": ["t", "missing"]},
    },
)
NAMES = {"b": "w9-000000", "gone": "w9-000001", "missing": "w9-000002"}
NAMES |= {"t": "w9-000003", "u": "w9-000004"}


def rendered(
    protocol: str = "range",
    document: dict[str, Any] | None = None,
    dialect: Dialect | None = None,
    base: int = 100,
) -> LeaderExchange:
    return exchange_of(
        rebalance_of(document or GROUP),
        number=9,
        dialect=dialect or Dialect(),
        written=WrittenAs(protocol=protocol, version=3, base=base),
    )


def test_names_sort_as_the_originals() -> None:
    exchange = rendered()
    assert {name: topic for topic, name in NAMES.items()} == exchange.originals
    assert list(NAMES.values()) == sorted(NAMES.values())
    assert set(exchange.topics) == {NAMES["b"], NAMES["t"], NAMES["u"]}
    assert exchange.needed == {NAMES["t"], NAMES["u"]}


def test_members_and_generation() -> None:
    exchange = rendered()
    assert [m.member_id for m in exchange.members] == ["m0", "m1"]
    assert exchange.leader == "m0"
    assert [m.instance_id for m in exchange.members] == [None, "s"]
    assert exchange.generation == 105
    assert rendered(base=INT32_MAX - 4).generation == INT32_MAX


SHORT = bytes.fromhex("0001 00000001 0001 74 ffffffff")
"""What kafka-go sends for topic t: version 1 without its owned partitions."""


def test_a_version_1_without_owned_partitions() -> None:
    """kafka-go writes it, and reads nothing else (`franz-go` and `sarama` do)."""
    assert written_version(SHORT) == (1, True)
    assert written_version(SHORT + bytes(4)) == (1, False)
    assert written_version(b"\0\0" + SHORT[2:]) == (0, False)
    assert written_version(SHORT[:-4] + bytes.fromhex("00000001 72")) == (1, True)
    for refused in (
        b"\0\2" + SHORT[2:],  # of no other version
        SHORT[:-1],  # cut off before the end of version 0
        SHORT + b"\0",  # and after it
        SHORT + b"\0\0\0\1",
        b"",
    ):
        with pytest.raises(WireError):
            written_version(refused)


def test_members_write_the_same_short_version() -> None:
    exchange = exchange_of(
        rebalance_of(GROUP),
        number=9,
        dialect=Dialect(),
        written=WrittenAs(protocol="range", version=1, base=0, is_short=True),
    )
    names = NAMES["t"].encode(), NAMES["missing"].encode()
    topics = b"".join(len(name).to_bytes(2, "big") + name for name in names)
    expected = bytes.fromhex("0001 00000002") + topics + b"\xff" * 4
    assert exchange.members[0].metadata == expected


@pytest.mark.parametrize("client", sorted(DIALECTS))
@pytest.mark.parametrize("protocol", ["range", "sticky", "cooperative-sticky"])
def test_subscriptions(client: str, protocol: str) -> None:
    exchange = rendered(protocol, dialect=DIALECTS[client])
    stated = UNKNOWN_GENERATION if client == "aiokafka" else 104
    first, second = (decode_subscription(m.metadata) for m in exchange.members)
    assert first.topics == (NAMES["t"], NAMES["missing"])
    assert (first.generation, first.rack) == (-1, None)
    assert second.topics == (NAMES["u"], NAMES["t"])
    assert (second.generation, second.rack) == (stated, "r")
    claim = member_claim(second, protocol)
    if protocol == "range":
        assert claim.partitions == ()
        assert second.user_data is None
    else:
        held = {NAMES["gone"]: (1,), NAMES["t"]: (0, 2)}
        if client == "platformatic-kafka":  # the member does not subscribe to it
            del held[NAMES["gone"]]
        assert (claim.partitions, claim.generation) == (tuple(held.items()), stated)


def test_user_data_of_rack_affinity() -> None:
    """kafka-go's members send their rack, or none, as user data."""
    exchange = rendered("rack-affinity", dialect=DIALECTS["kafka-go"])
    sent = [decode_subscription(m.metadata).user_data for m in exchange.members]
    assert sent == [b"", b"r"]


def test_platformatic_states_no_generation_without_claims() -> None:
    group = rebalance(
        {"t": {"partitions": 1}, "u": {"partitions": 1}},
        {"m": {"subscription": ["u"], "owned": {"t": [0]}, "generation": 2}},
    )
    dialect = DIALECTS["platformatic-kafka"]
    (member,) = rendered("cooperative-sticky", group, dialect).members
    read = decode_subscription(member.metadata)
    assert (read.owned, read.generation) == ((), UNKNOWN_GENERATION)


def test_user_data_of_each_dialect() -> None:
    def data(client: str, protocol: str) -> bytes | None:
        exchange = rendered(protocol, dialect=DIALECTS[client])
        return decode_subscription(exchange.members[1].metadata).user_data

    cooperative = "cooperative-sticky"
    assert decode_generation(data("kafka-clients", cooperative) or b"") == 104
    assert data("kafka-python", cooperative) is None
    for client in ("librdkafka", "franz-go"):
        read = decode_sticky_user_data(data(client, cooperative) or b"")
        assert (read.generation, read.prefixed) == (104, False)
    assert decode_sticky_user_data(data("kafka-python", "sticky") or b"").prefixed
    read = decode_sticky_user_data(data("aiokafka", "sticky") or b"")
    assert (read.generation, read.prefixed) == (UNKNOWN_GENERATION, False)


def test_an_answer_has_the_original_names() -> None:
    given = {"m0": {NAMES["t"]: [1, 0]}, "m1": {NAMES["u"]: [0], "other": [7]}}
    answer = rendered().read((m, assigned(held)) for m, held in given.items())
    assert answer.verdict is Verdict.ANSWERED
    assert answer.assignment is not None
    assert answer.assignment.members == {
        "m0": {"t": [0, 1]},
        "m1": {"other": [7], "u": [0]},
    }


def test_an_omitted_member_receives_nothing() -> None:
    answer = rendered().read([("m1", b"")])
    assert answer.assignment is not None
    assert answer.assignment.members == {"m0": {}, "m1": {}}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([("m0", b""), ("m0", b"")], "member 'm0' is assigned twice"),
        ([("m0", b"\0\1\0\0")], "assignment of 'm0': at byte"),
        ([("m0", assigned({NAMES["t"]: [-1]}))], "m0"),
    ],
)
def test_answers_that_cannot_be_read(
    given: list[tuple[str, bytes]], reason: str
) -> None:
    answer = rendered().read(given)
    assert answer.verdict is Verdict.INVALID
    assert answer.assignment is None
    assert reason in (answer.reason or "")

"""Documents that cannot be read: each with the JSON path and reason of its error."""

from __future__ import annotations

import json
from typing import Any

import pytest

import verify
from tests.shapes import CHAIN, rebalance
from tests.verify.commands import verdict_on

HEAD = '{"format": "rebalance/1", "group": "g"'
WRITTEN = "a policy is written as dec-min; 2*stickiness + rack, load; max-moves=3"
EMPTY = json.dumps(rebalance({}, {}))
NOTHING_GIVEN = '{"format": "assignment/1", "members": {}}'

Case = tuple[str, str | bytes, str, str]  # what it is, text, path, reason


def topics(listed: str) -> str:
    return f'{HEAD}, "topics": {listed}, "members": {{}}}}'


def members(listed: str) -> str:
    return f'{HEAD}, "topics": {{}}, "members": {listed}}}'


def assignment(fields: str) -> str:
    return f'{{"format": "assignment/1", {fields}}}'


INSTANCES: list[Case] = [
    (
        "Bytes of no text.",
        bytes(range(255, 127, -1)),
        "$",
        "not UTF-8 at byte 0",
    ),
    (
        "true is no 1.",
        topics('{"t": {"partitions": true}}'),
        "$.topics.t.partitions",
        "true is no integer",
    ),
    (
        "Nor is false a 0.",
        members('{"a": {"subscription": [], "owned": {"t": [0, false]}}}'),
        "$.members.a.owned.t[1]",
        "false is no integer",
    ),
    (
        "A mark that JSON does not have.",
        (
            '\ufeff{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}'
        ),
        "$",
        "starts with a byte order mark; write plain UTF-8",
    ),
    (
        "A member that can take nothing.",
        members('{"a": {"subscription": [], "capacity": 0}}'),
        "$.members.a.capacity",
        "0 is not within 1 and 9223372036854775807",
    ),
    (
        "franz-go's partition -1.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 3}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0, -1]}}}}'
        ),
        "$.members.a.owned.t[1]",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "A partition twice in one claim.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 3}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [2, 0, 2]}}}}'
        ),
        "$.members.a.owned.t[2]",
        "2 listed twice",
    ),
    (
        "Ten thousand lists.",
        "[" * 10_000,
        "$",
        "nested too deeply",
    ),
    (
        "No text.",
        "",
        "$",
        "not JSON: Expecting value (line 1 column 1)",
    ),
    (
        "Nor is 1e3.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":1,"lag":[1e3]}}}'
        ),
        "$.topics.t.lag[0]",
        "a float: 1e3",
    ),
    (
        "Even 2.0 is no integer.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":2.0}}}'
        ),
        "$.topics.t.partitions",
        "a float: 2.0",
    ),
    (
        "One more than the protocol holds.",
        members('{"a": {"subscription": [], "generation": 2147483648}}'),
        "$.members.a.generation",
        "2147483648 is not within -1 and 2147483647",
    ),
    (
        "-1 is unknown, -2 is nothing.",
        members('{"a": {"subscription": [], "generation": -2}}'),
        "$.members.a.generation",
        "-2 is not within -1 and 2147483647",
    ),
    (
        "A float is no group.",
        '{"format":"rebalance/1","group":1.5,"members":{},"topics":{}}',
        "$.group",
        "a float: 1.5",
    ),
    (
        "No Unicode, though JSON can spell it.",
        '{"format": "rebalance/1", "group": "\\ud800", "members": {}, "topics": {}}',
        "$.group",
        "half a surrogate pair in a string",
    ),
    (
        "The same in a topic's name.",
        (
            '{"format": "rebalance/1", "group": "g", "members": {}, "topics": '
            '{"t\\udc00": {"partitions": 1}}}'
        ),
        '$.topics["t\\udc00"]',
        "half a surrogate pair in a string",
    ),
    (
        "An id is a string.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}, "id": 7}'
        ),
        "$.id",
        "7 is no string",
    ),
    (
        "Nor is -Infinity.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":1,"lag":[-Infinity]}}}'
        ),
        "$.topics.t.lag[0]",
        "no JSON: -Infinity",
    ),
    (
        "A static member's id is a string.",
        members('{"a": {"subscription": [], "instance_id": 1}}'),
        "$.members.a.instance_id",
        "1 is no string",
    ),
    (
        "Twenty-one digits.",
        topics('{"t": {"partitions": 1, "lag": [100000000000000000000]}}'),
        "$.topics.t.lag[0]",
        "integer beyond 64 bits",
    ),
    (
        "More digits than Python likes to read.",
        topics('{"t": {"partitions": ' + "9" * 5_000 + "}}"),
        "$.topics.t.partitions",
        "integer beyond 64 bits",
    ),
    (
        "One more than fits.",
        topics('{"t": {"partitions": 1, "lag": [9223372036854775808]}}'),
        "$.topics.t.lag[0]",
        "9223372036854775808 is not within 0 and 9223372036854775807",
    ),
    (
        "A lag for no partition.",
        topics('{"t": {"partitions": 0, "lag": [5]}}'),
        "$.topics.t.lag",
        "1 entries for 0 partitions",
    ),
    (
        "One lag for two partitions.",
        topics('{"t": {"partitions": 2, "lag": [5]}}'),
        "$.topics.t.lag",
        "1 entries for 2 partitions",
    ),
    (
        "A version that is not known.",
        (
            '{"format": "rebalance/2", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}'
        ),
        "$.format",
        '"rebalance/2" is none of rebalance/1',
    ),
    (
        "A list of instances is no instance.",
        (
            '[{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}]'
        ),
        "$",
        "a list is no object",
    ),
    (
        "A message shows the start of a long culprit.",
        topics('{"t": {"partitions": "' + "x" * 1_000 + '"}}'),
        "$.topics.t.partitions",
        '"' + "x" * 79 + "... is no integer",
    ),
    (
        "A member is in one rack.",
        members('{"a": {"subscription": [], "rack": ["r"]}}'),
        "$.members.a.rack",
        "a list is no string",
    ),
    (
        "NaN is no JSON.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":NaN}}}'
        ),
        "$.topics.t.partitions",
        "no JSON: NaN",
    ),
    (
        "-1 means that nothing was committed; it is no lag.",
        topics('{"t": {"partitions": 2, "lag": [5, -1]}}'),
        "$.topics.t.lag[1]",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "Fewer than none.",
        topics('{"t": {"partitions": -1}}'),
        "$.topics.t.partitions",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "Without its format.",
        '{"group": "g"}',
        "$.format",
        "missing",
    ),
    (
        "The group is not named.",
        (
            '{"format": "rebalance/1", "topics": {"t": {"partitions": 2}}, '
            '"members": {"a": {"subscription": ["t"], "owned": {"t": [0]}, '
            '"generation": 1}}}'
        ),
        "$.group",
        "missing",
    ),
    (
        "No members.",
        ('{"format": "rebalance/1", "group": "g", "topics": {"t": {"partitions": 2}}}'),
        "$.members",
        "missing",
    ),
    (
        "A member says nothing of what it wants.",
        members('{"a": {}}'),
        "$.members.a.subscription",
        "missing",
    ),
    (
        "No topics.",
        (
            '{"format": "rebalance/1", "group": "g", "members": {"a": '
            '{"subscription": ["t"], "owned": {"t": [0]}, "generation": 1}}}'
        ),
        "$.topics",
        "missing",
    ),
    (
        "Bytes of another encoding.",
        b'{"format": "rebalance/1", "group": "\xe9"}',
        "$",
        "not UTF-8 at byte 36",
    ),
    (
        "A byte that JSON has no use for.",
        "\x00",
        "$",
        "not JSON: Expecting value (line 1 column 1)",
    ),
    (
        "Nothing.",
        "null",
        "$",
        "null is no object",
    ),
    (
        "An optional key is left out, not null.",
        topics('{"t": {"partitions": 1, "lag": null}}'),
        "$.topics.t.lag",
        "null is no list",
    ),
    (
        "An assignment where an instance is due.",
        assignment('"members": {"a": {"t": [0, 1]}}'),
        "$.format",
        '"assignment/1" is none of rebalance/1',
    ),
    (
        "A claim names its topics.",
        members('{"a": {"subscription": [], "owned": []}}'),
        "$.members.a.owned",
        "a list is no object",
    ),
    (
        "A rack that is no string.",
        topics('{"t": {"partitions": 1, "racks": [["a", 1]]}}'),
        "$.topics.t.racks[0][1]",
        "1 is no string",
    ),
    (
        "Racks without the list of each partition.",
        topics('{"t": {"partitions": 1, "racks": ["a"]}}'),
        "$.topics.t.racks[0]",
        '"a" is no list',
    ),
    (
        "Racks of no partition.",
        topics('{"t": {"partitions": 1, "racks": []}}'),
        "$.topics.t.racks",
        "0 entries for 1 partitions",
    ),
    (
        "A key given twice, outermost.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}, "group": "h"}'
        ),
        "$.group",
        "key given twice",
    ),
    (
        "A claim on one topic given twice.",
        (
            '{"format":"rebalance/1","group":"g","topics":{},"members":{"a":{"subsc'
            'ription":[],"owned":{"t":[0],"u":[],"t":[1]}}}}'
        ),
        "$.members.a.owned.t",
        "key given twice",
    ),
    (
        "A topic given twice.",
        (
            '{"format":"rebalance/1","group":"g","members":{},"topics":{"t":{"parti'
            'tions":1},"t":{"partitions":2}}}'
        ),
        "$.topics.t",
        "key given twice",
    ),
    (
        "A number in quotes.",
        topics('{"t": {"partitions": "2"}}'),
        "$.topics.t.partitions",
        '"2" is no integer',
    ),
    (
        "A topic's name is a string.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 1}}, "members": {"a": {"subscription": ["t", 1]}}}'
        ),
        "$.members.a.subscription[1]",
        "1 is no string",
    ),
    (
        "A string is no list of topics.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 1}}, "members": {"a": {"subscription": "t"}}}'
        ),
        "$.members.a.subscription",
        '"t" is no list',
    ),
    (
        "A topic wanted twice.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 1}}, "members": {"a": {"subscription": ["t", "u", '
            '"t"]}}}'
        ),
        "$.members.a.subscription[2]",
        '"t" listed twice',
    ),
    (
        "Cut in half.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "m'
        ),
        "$",
        "not JSON: Unterminated string starting at (line 1 column 77)",
    ),
    (
        "One after the other on one line.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}} {"format": "rebalance/1", "group": '
            '"g", "topics": {"t": {"partitions": 2}}, "members": {"a": '
            '{"subscription": ["t"], "owned": {"t": [0]}, "generation": 1}}}'
        ),
        "$",
        "not JSON: Extra data (line 1 column 158)",
    ),
    (
        "A key that no rebalance has.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}, "memers": {}}'
        ),
        "$.memers",
        "unknown key",
    ),
    (
        "A key that no member has.",
        members('{"a b": {"subscription": [], "x": 1}}'),
        '$.members["a b"].x',
        "unknown key",
    ),
    (
        "A key that no topic has.",
        topics('{"t": {"partitions": 1, "replicas": 3}}'),
        "$.topics.t.replicas",
        "unknown key",
    ),
    (
        "More partitions than the limit, over all topics.",
        topics('{"t": {"partitions": 10000000}, "u": {"partitions": 1}}'),
        "$.topics.u.partitions",
        "10000001 partitions up to here, above the limit 10000000",
    ),
    (
        "More partitions than the limit, in one topic.",
        topics('{"t": {"partitions": 10000001}}'),
        "$.topics.t.partitions",
        "10000001 partitions up to here, above the limit 10000000",
    ),
]
ASSIGNMENTS: list[Case] = [
    (
        "An assignor is named.",
        assignment('"assignor": 1, "members": {}'),
        "$.assignor",
        "1 is no string",
    ),
    (
        "One more than fits.",
        assignment('"members": {"a": {"t": [9223372036854775808]}}'),
        "$.members.a.t[0]",
        "9223372036854775808 is not within 0 and 9223372036854775807",
    ),
    (
        "true is no partition.",
        assignment('"members": {"a": {"t": [true]}}'),
        "$.members.a.t[0]",
        "true is no integer",
    ),
    (
        "Levels without prices.",
        assignment('"certificate": {"level": {}}, "members": {}'),
        "$.certificate.price",
        "missing",
    ),
    (
        "No level is below 0.",
        assignment('"certificate": {"level": {"a": -1}, "price": {}}, "members": {}'),
        "$.certificate.level.a",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "Prices are integers.",
        assignment('"certificate": {"level": {}, "price": {"a": "1"}}, "members": {}'),
        "$.certificate.price.a",
        '"1" is no integer',
    ),
    (
        "The least price is -(2**63 - 1).",
        assignment(
            '"certificate": {"level": {}, "price": {"a": -9223372036854775808}}, '
            '"members": {}'
        ),
        "$.certificate.price.a",
        f"{-(2**63)} is not within {-(2**63) + 1} and {2**63 - 1}",
    ),
    (
        "No text.",
        "",
        "$",
        "not JSON: Expecting value (line 1 column 1)",
    ),
    (
        "Balanced or not, nothing between.",
        assignment('"figures": {"kip54_balanced": 1}, "members": {}'),
        "$.figures.kip54_balanced",
        "1 is no boolean",
    ),
    (
        "Figures are integers.",
        '{"format":"assignment/1","members":{},"figures":{"kept":0.5}}',
        "$.figures.kept",
        "a float: 0.5",
    ),
    (
        "No load is below 0.",
        assignment('"figures": {"loads": [1, -1]}, "members": {}'),
        "$.figures.loads[1]",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "A figure that is none.",
        assignment('"figures": {"jitter": 1}, "members": {}'),
        "$.figures.jitter",
        "unknown key",
    ),
    (
        "Topics are named.",
        assignment('"members": {"a": [0, 1]}'),
        "$.members.a",
        "a list is no object",
    ),
    (
        "A group is named.",
        assignment('"group": [], "members": {}'),
        "$.group",
        "a list is no string",
    ),
    (
        "A member given twice.",
        '{"format":"assignment/1","members":{"a":{},"a":{}}}',
        "$.members.a",
        "key given twice",
    ),
    (
        "Members are named.",
        assignment('"members": []'),
        "$.members",
        "a list is no object",
    ),
    (
        "Partition -1.",
        assignment('"members": {"a": {"t": [0, -1]}}'),
        "$.members.a.t[1]",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "Nobody mentioned.",
        '{"format": "assignment/1"}',
        "$.members",
        "missing",
    ),
    (
        "A level without bound.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; '
            'stickiness", "members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, '
            '"objectives": [{"of": "stickiness", "value": 0}]'
        ),
        "$.objectives[0].bound",
        "missing",
    ),
    (
        "A value of text.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; '
            'stickiness", "members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, '
            '"objectives": [{"of": "stickiness", "value": "0", "bound": 0}]'
        ),
        "$.objectives[0].value",
        '"0" is no integer',
    ),
    (
        "An instance where an assignment is due.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}'
        ),
        "$.format",
        '"rebalance/1" is none of assignment/1',
    ),
    (
        "A balance that does not exist.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "even; stickiness", '
            '"members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}'
        ),
        "$.policy",
        f'"even" is no balance; {WRITTEN}',
    ),
    (
        "A named policy is written out in an answer.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "sticky", "members": '
            '{"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}'
        ),
        "$.policy",
        f'"sticky" is no balance; {WRITTEN}',
    ),
    (
        "A policy is text.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": 3, "members": {"a": '
            '{"t": [0, 1, 2]}, "b": {"t": [3, 4]}}'
        ),
        "$.policy",
        "3 is no string",
    ),
    (
        "An objective twice.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; rack, '
            'rack", "members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}'
        ),
        "$.policy",
        '"rack" comes twice',
    ),
    (
        "A proof of a sort that does not exist.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; '
            'stickiness", "members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, '
            '"objectives": [{"of": "stickiness", "value": 0, "bound": 0, "proof": '
            '{"by": "hand"}}]'
        ),
        "$.objectives[0].proof.by",
        '"hand" is none of certificate, terms, search',
    ),
    (
        "A proof that does not say what it is.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; '
            'stickiness", "members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, '
            '"objectives": [{"of": "stickiness", "value": 0, "bound": 0, "proof": '
            '{"terms": []}}]'
        ),
        "$.objectives[0].proof.by",
        "missing",
    ),
    (
        "A status that is none.",
        assignment('"status": "best", "members": {}'),
        "$.status",
        '"best" is none of optimal, feasible, infeasible, unknown',
    ),
    (
        "Not even null.",
        assignment('"status": null, "members": {}'),
        "$.status",
        "null is no string",
    ),
    (
        "A price that is no number.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; peak-lag", '
            '"members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, "objectives": '
            '[{"of": "peak-lag", "value": 53, "bound": 53, "proof": {"by": '
            '"terms", "terms": [{"kind": "duals", "bound": 1, "weight": {"a": 1}, '
            '"price": {"a": {"t": []}}}]}}]'
        ),
        "$.objectives[0].proof.terms[0].price.a.t",
        "a list is no integer",
    ),
    (
        "A weight below 0.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; peak-lag", '
            '"members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, "objectives": '
            '[{"of": "peak-lag", "value": 53, "bound": 53, "proof": {"by": '
            '"terms", "terms": [{"kind": "duals", "bound": 1, "weight": {"a": '
            "-1}}]}}]"
        ),
        "$.objectives[0].proof.terms[0].weight.a",
        "-1 is not within 0 and 9223372036854775807",
    ),
    (
        "No terms are no proof.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; '
            'stickiness", "members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, '
            '"objectives": [{"of": "stickiness", "value": 0, "bound": 0, "proof": '
            '{"by": "terms", "terms": []}}]'
        ),
        "$.objectives[0].proof.terms",
        "empty",
    ),
    (
        "A topic given twice.",
        '{"format":"assignment/1","members":{"a":{"t":[0],"t":[1]}}}',
        "$.members.a.t",
        "key given twice",
    ),
    (
        "A key that no assignment has.",
        assignment('"members": {"a": {"t": [0, 1]}}, "moves": 1'),
        "$.moves",
        "unknown key",
    ),
]


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [case[1:] for case in INSTANCES],
    ids=[case[0] for case in INSTANCES],
)
def test_unreadable_instance(text: str | bytes, path: str, reason: str) -> None:
    verdict = verdict_on(text, NOTHING_GIVEN)
    assert verdict == unreadable("instance", path, reason)


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [case[1:] for case in ASSIGNMENTS],
    ids=[case[0] for case in ASSIGNMENTS],
)
def test_unreadable_assignment(text: str | bytes, path: str, reason: str) -> None:
    verdict = verdict_on(EMPTY, text)
    assert verdict == unreadable("assignment", path, reason)


def unreadable(document: str, path: str, reason: str) -> dict[str, Any]:
    return {
        "format": "verdict/1",
        "verdict": "unreadable",
        "violations": [],
        "figures": {},
        "evidence": {
            "unreadable": {"document": document, "path": path, "reason": reason}
        },
        "proved": {"dec_min": False, "stickiness": False, "peak_lag": False},
    }


def test_of_two_the_instance_is_named() -> None:
    verdict = verdict_on("{", "[]")
    assert verdict["evidence"]["unreadable"]["document"] == "instance"


def test_the_id_of_a_readable_instance_is_kept() -> None:
    verdict = verdict_on(json.dumps(CHAIN | {"id": "r7"}), "[]")
    assert list(verdict)[:3] == ["format", "id", "verdict"]
    assert verdict["id"] == "r7"


def test_bug_a_topic_of_twenty_million_partitions_is_rejected_at_once() -> None:
    """60 bytes occupied the judge for 50 s; the limit can be raised and lowered."""
    text = topics('{"t": {"partitions": 3}}')
    assert verify.read_rebalance(text, max_partitions=3)["topics"]["t"]
    with pytest.raises(verify.Unreadable, match="above the limit 2"):
        verify.read_rebalance(text, max_partitions=2)

"""Assignments that cannot be read: what each is, text, JSON path, and reason."""

from __future__ import annotations

WRITTEN = "a policy is written as dec-min; 2*stickiness + rack, load; max-moves=3"

Case = tuple[str, str | bytes, str, str]  # what it is, text, path, reason


def assignment(fields: str) -> str:
    return f'{{"format": "assignment/1", {fields}}}'


ASSIGNMENTS: list[Case] = [
    (
        "An assignor is named.",
        assignment('"assignor": 1, "members": {}'),
        "$.assignor",
        "1 is not a string",
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
        "true is not an integer",
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
        '"1" is not an integer',
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
        "1 is not a boolean",
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
        "a list is not an object",
    ),
    (
        "A group is named.",
        assignment('"group": [], "members": {}'),
        "$.group",
        "a list is not a string",
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
        "a list is not an object",
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
        '"0" is not an integer',
    ),
    (
        "An instance where an assignment is due.",
        (
            '{"format": "rebalance/1", "group": "g", "topics": {"t": '
            '{"partitions": 2}}, "members": {"a": {"subscription": ["t"], "owned": '
            '{"t": [0]}, "generation": 1}}}'
        ),
        "$.format",
        '"rebalance/1" is not one of assignment/1',
    ),
    (
        "A balance that does not exist.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "even; stickiness", '
            '"members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}'
        ),
        "$.policy",
        f'"even" is not a balance; {WRITTEN}',
    ),
    (
        "A named policy is written out in an answer.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "sticky", "members": '
            '{"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}'
        ),
        "$.policy",
        f'"sticky" is not a balance; {WRITTEN}',
    ),
    (
        "A policy is text.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": 3, "members": {"a": '
            '{"t": [0, 1, 2]}, "b": {"t": [3, 4]}}'
        ),
        "$.policy",
        "3 is not a string",
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
        '"hand" is not one of certificate, terms, search',
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
        '"best" is not one of optimal, feasible, infeasible, unknown',
    ),
    (
        "Not even null.",
        assignment('"status": null, "members": {}'),
        "$.status",
        "null is not a string",
    ),
    (
        "A price that is not a number.",
        assignment(
            '"assignor": "x", "status": "optimal", "policy": "dec-min; peak-lag", '
            '"members": {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4]}}, "objectives": '
            '[{"of": "peak-lag", "value": 53, "bound": 53, "proof": {"by": '
            '"terms", "terms": [{"kind": "duals", "bound": 1, "weight": {"a": 1}, '
            '"price": {"a": {"t": []}}}]}}]'
        ),
        "$.objectives[0].proof.terms[0].price.a.t",
        "a list is not an integer",
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

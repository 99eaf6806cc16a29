"""The two formats the judge reads, field by field.

Legal, because it happens: claims on topics or partitions that are gone or that the
member does not subscribe to, and subscriptions to topics that do not exist.
"""

from __future__ import annotations

from typing import Any, cast

from verify.policy import check_policy
from verify.strict import (
    INT64_MAX,
    Check,
    Unreadable,
    boolean,
    counts,
    distinct,
    each,
    either,
    fields,
    integer,
    one_of,
    pair,
    parse,
    some,
    table,
    tagged,
    text,
)

Document = dict[str, Any]

PARTITIONS_MAX = 20_000_000  # over all topics; each of them is visited
GENERATION_MAX = 2**31 - 1  # int32 in the protocol

TOPIC = fields(
    {"partitions": integer(0, PARTITIONS_MAX)},
    {"lag": counts, "racks": each(each(text))},
)
MEMBER = fields(
    {"subscription": distinct(each(text))},
    {
        "owned": table(distinct(counts)),
        "generation": integer(-1, GENERATION_MAX),
        "rack": text,
        "instance_id": text,
        "capacity": integer(1),
    },
)
REBALANCE = fields(
    {"format": text, "group": text, "topics": table(TOPIC), "members": table(MEMBER)},
    {"id": text},
)
FIGURES = fields(
    {},
    {
        "loads": counts,
        "kept": integer(0),
        "moves": integer(0),
        "withheld": integer(0),
        "kip54_score": integer(0),
        "kip54_balanced": boolean,
        "dec_min_balanced": boolean,
        "peak_lag": integer(0),
        "lag_spread": integer(0),
        "rack_mismatches": integer(0),
    },
)
CERTIFICATE = fields(
    {"level": table(integer(0)), "price": table(integer(-INT64_MAX))},
    {
        "threshold": table(pair(integer(1))),
        "weights": fields({}, {"stickiness": integer(0), "rack": integer(0)}),
    },
)
SIGNED = integer(-INT64_MAX)
VALUE = either(list, each(SIGNED), SIGNED)  # a list is that of loads
TERM = fields(
    {"kind": text, "bound": SIGNED},
    {
        "members": each(text),
        "topics": each(text),
        "at_least": integer(0),
        "weight": table(integer(0)),
        "price": table(either(dict, table(SIGNED), SIGNED)),
        "steps": each(pair(integer(0))),
    },
)
PROOF = tagged(
    "by",
    {
        "certificate": fields({"by": text}),
        "terms": fields({"by": text, "terms": some(each(TERM))}),
        "search": fields({"by": text, "engine": text}, {"terms": each(TERM)}),
    },
)
OBJECTIVE = fields(
    {"of": text, "value": VALUE, "bound": VALUE},
    {"scale": integer(1), "proof": PROOF},
)
ASSIGNMENT = fields(
    {"format": text, "members": table(table(counts))},
    {
        "group": text,
        "id": text,
        "assignor": text,
        "status": one_of("optimal", "feasible", "infeasible", "unknown"),
        "policy": check_policy,
        "objectives": each(OBJECTIVE),
        "reason": text,
        "figures": FIGURES,
        "certificate": CERTIFICATE,
    },
)


def read_rebalance(source: str | bytes) -> Document:
    """Read the text of one ``rebalance/1`` document.

    Raises
    ------
    Unreadable
        If it is not one; names the JSON path of the first culprit.
    """
    document = _read(source, "rebalance/1", REBALANCE)
    total = 0
    for name, topic in document["topics"].items():
        total += topic["partitions"]
        for key in ("lag", "racks"):
            length = len(topic.get(key, ()))
            if key in topic and length != topic["partitions"]:
                reason = f"{length} entries for {topic['partitions']} partitions"
                raise Unreadable(reason, ("topics", name, key))
    if total > PARTITIONS_MAX:
        reason = f"{total} partitions; at most {PARTITIONS_MAX} are judged"
        raise Unreadable(reason, ("topics",))
    return document


def read_assignment(source: str | bytes) -> Document:
    """Read the text of one ``assignment/1`` document; no instance is consulted.

    Raises
    ------
    Unreadable
        If it is not one; names the JSON path of the first culprit.
    """
    return _read(source, "assignment/1", ASSIGNMENT)


def _read(source: str | bytes, name: str, check: Check) -> Document:
    value = parse(source)
    # The format first: of another document every key would be unknown.
    if isinstance(value, dict) and "format" in value:
        one_of(name)(value["format"], ("format",))
    check(value, ())
    return cast("Document", value)

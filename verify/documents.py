"""Readers of the formats ``rebalance/1`` and ``assignment/1``, field by field.

Legal, because it happens: claims on topics or partitions that no longer exist or to
which the member does not subscribe, and subscriptions to topics that do not exist.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from verify.handover import policy
from verify.schema import (
    INT64_MAX,
    Each,
    Fields,
    Integer,
    OneOf,
    Table,
    Unreadable,
    expect,
    parse,
    text,
)

Document = dict[str, Any]

PARTITIONS_MAX = 10_000_000
"""Default limit of partitions over all topics; the judge visits each of them."""

COUNT, POSITIVE, INT64 = Integer(), Integer(1), Integer(-INT64_MAX)
COUNTS = Each(COUNT)
STATUSES = OneOf(("optimal", "feasible", "infeasible", "unknown"))
BOOLEAN = partial(expect, bool)

TOPIC = Fields({"partitions": COUNT}, {"lag": COUNTS, "racks": Each(Each(text))})
MEMBER = Fields(
    {"subscription": Each(text, distinct=True)},
    {
        "owned": Table(Each(COUNT, distinct=True)),
        "generation": Integer(-1, 2**31 - 1),  # int32 in the protocol; -1: unknown
        "rack": text,
        "instance_id": text,
        "capacity": POSITIVE,
    },
)
REBALANCE = Fields(
    {"format": text, "group": text, "topics": Table(TOPIC), "members": Table(MEMBER)},
    {"id": text},
)
FIGURES = Fields(
    {},
    {
        "loads": COUNTS,
        **dict.fromkeys(("kept", "moves", "withheld", "kip54_score"), COUNT),
        **dict.fromkeys(("kip54_balanced", "dec_min_balanced"), BOOLEAN),
        **dict.fromkeys(("peak_lag", "lag_spread", "rack_mismatches"), COUNT),
    },
)
CERTIFICATE = Fields(
    {"level": Table(COUNT), "price": Table(INT64)},
    {
        "threshold": Table(Each(POSITIVE, length=2)),
        "weights": Fields({}, {"stickiness": COUNT, "rack": COUNT}),
    },
)
ASSIGNMENT = Fields(
    {"format": text, "members": Table(Table(COUNTS))},
    {
        **dict.fromkeys(("group", "id", "assignor", "reason"), text),
        "status": STATUSES,
        "figures": FIGURES,
        "certificate": CERTIFICATE,
        **policy.STATED_FIELDS,
    },
)


def read_rebalance(
    source: str | bytes, *, max_partitions: int = PARTITIONS_MAX
) -> Document:
    """Read the text of one ``rebalance/1`` document.

    Raises
    ------
    Unreadable
        If it is not one, or has more partitions than the limit; names the JSON path
        of the first culprit.
    """
    document = _read(source, "rebalance/1", REBALANCE)
    total = 0
    for name, topic in document["topics"].items():
        count = topic["partitions"]
        total += count
        if total > max_partitions:
            reason = f"{total} partitions up to here, above the limit {max_partitions}"
            raise Unreadable(reason, ("topics", name, "partitions"))
        for key in ("lag", "racks"):
            length = len(topic.get(key, ()))
            if key in topic and length != count:
                reason = f"{length} entries for {count} partitions"
                raise Unreadable(reason, ("topics", name, key))
    return document


def read_assignment(source: str | bytes) -> Document:
    """Read the text of one ``assignment/1`` document; no instance is consulted.

    Raises
    ------
    Unreadable
        If it is not one; names the JSON path of the first culprit.
    """
    return _read(source, "assignment/1", ASSIGNMENT)


def _read(source: str | bytes, name: str, schema: Fields) -> Document:
    value = parse(source)
    # The format first: in another document every key would be unknown.
    if isinstance(value, dict) and "format" in value:
        OneOf([name])(value["format"], ("format",))
    schema(value, ())
    return cast("Document", value)

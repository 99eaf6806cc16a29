"""Readers of the formats ``rebalance/1`` and ``assignment/1``, field by field.

Legal, because it happens: claims on topics or partitions that no longer exist or to
which the member does not subscribe, and subscriptions to topics that do not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from verify.handover import policy
from verify.schema import COUNT, INT64, POSITIVE, Unreadable, check, parse, refuse

Document = dict[str, Any]

PARTITIONS_MAX = 10_000_000  # over all topics; the judge visits each of them

REBALANCE: Document = {
    "format": str,
    "group": str,
    "id?": str,
    "topics": {"*": {"partitions": COUNT, "lag?": [COUNT], "racks?": [[str]]}},
    "members": {
        "*": {
            "subscription": {str},
            "owned?": {"*": {COUNT}},
            "generation?": range(-1, 2**31),  # int32 in the protocol; -1: unknown
            "rack?": str,
            "instance_id?": str,
            "capacity?": POSITIVE,
        }
    },
}
ASSIGNMENT: Document = {
    "format": str,
    "members": {"*": {"*": [COUNT]}},
    **dict.fromkeys(("group?", "id?", "assignor?", "reason?"), str),
    "status?": ("optimal", "feasible", "infeasible", "unknown"),
    "figures?": {
        "loads?": [COUNT],
        **dict.fromkeys(("kept?", "moves?", "withheld?", "kip54_score?"), COUNT),
        **dict.fromkeys(("kip54_balanced?", "dec_min_balanced?"), bool),
        **dict.fromkeys(("peak_lag?", "lag_spread?", "rack_mismatches?"), COUNT),
    },
    "certificate?": {
        "level": {"*": COUNT},
        "price": {"*": INT64},
        "threshold?": {"*": [POSITIVE, POSITIVE]},
        "weights?": {"stickiness?": COUNT, "rack?": COUNT},
    },
    **policy.STATED_FIELDS,
}


def read_rebalance(
    source: str | bytes, *, max_partitions: int = PARTITIONS_MAX
) -> Document:
    """Read the text of one ``rebalance/1`` document.

    Raises
    ------
    Unreadable
        If it is not one, or has more partitions than the limit.
    """
    document = _read(source, "rebalance/1", REBALANCE)
    refuse(_contradictions(document, max_partitions))
    return document


def read_rebalances(
    sources: Iterable[str | bytes], *, max_partitions: int = PARTITIONS_MAX
) -> list[Document]:
    """Read the texts of many ``rebalance/1`` documents, checked together.

    That takes a third of the time of one after the other, if they are small.

    Raises
    ------
    Unreadable
        If some text is not one, or has more partitions than the limit.
    """
    documents = _read_all(sources, "rebalance/1", REBALANCE)
    for document in documents:
        refuse(_contradictions(document, max_partitions))
    return documents


def _contradictions(document: Document, max_partitions: int) -> Iterator[Unreadable]:
    """Yield the topic that exceeds the limit, and lists of another length."""
    total = 0
    for name, topic in document["topics"].items():
        count = topic["partitions"]
        within, total = total <= max_partitions, total + count
        if within and total > max_partitions:
            reason = f"{total} partitions up to here, above the limit {max_partitions}"
            yield Unreadable(reason, ("topics", name, "partitions"))
        for key in ("lag", "racks"):
            length = len(topic.get(key, ()))
            if key in topic and length != count:
                reason = f"{length} entries for {count} partitions"
                yield Unreadable(reason, ("topics", name, key))


def read_assignment(source: str | bytes) -> Document:
    """Read the text of one ``assignment/1`` document; no instance is consulted.

    Raises
    ------
    Unreadable
        If it is not one.
    """
    return _read(source, "assignment/1", ASSIGNMENT)


def read_assignments(sources: Iterable[str | bytes]) -> list[Document]:
    """Read the texts of many ``assignment/1`` documents, checked together.

    Raises
    ------
    Unreadable
        If some text is not one.
    """
    return _read_all(sources, "assignment/1", ASSIGNMENT)


def _read_all(
    sources: Iterable[str | bytes], name: str, schema: Document
) -> list[Document]:
    values = [parse(source) for source in sources]
    check([schema | {"format": (name,)}], values)
    return cast("list[Document]", values)


def _read(source: str | bytes, name: str, schema: Document) -> Document:
    value = parse(source)
    # The format first: in another document every key would be unknown.
    if isinstance(value, dict) and "format" in value:
        check((name,), value["format"], ("format",))
    check(schema, value)
    return cast("Document", value)

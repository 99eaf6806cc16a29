"""Rebalances for the comparison with upstream: random or recorded."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.dataset as ds

from heuristics.sticky import StickyAssignor
from rebalance import document_of, instance_of, parse_rebalance

Document = dict[str, Any]

RECORDINGS = Path(__file__).resolve().parent.parent / "recordings"
RECORDED_FOLDERS = ("churn", "first-look")
RACKS = ("a", "b", "c")
DRAWN = (
    "equal, new",
    "equal, churned",
    "equal, stale",
    "equal, racks",
    "mixed, new",
    "mixed, churned",
    "mixed, stale",
    "mixed, racks",
)
"""Kinds of random groups: subscriptions, new or churned, stale claims, racks."""
RECORDED = "recorded"


def draw(kind: str, seed: int) -> Document:
    """Return the rebalance of a seed: the same on every machine.

    2 to 20 members subscribe to all or some of 2 to 8 topics; a topic has 1 to 16
    partitions. A churned group has one to four previous rebalances, each answered by
    our ``sticky``; between two, up to three members leave, up to three join, and
    sometimes a topic grows. With stale claims, one in four members misses a rebalance
    and keeps its old claims. With racks, each member is on one of three racks, and a
    partition has replicas on one to three of them.
    """
    wanted, has = kind.split(", ")
    is_mixed, has_racks = wanted == "mixed", has == "racks"
    rng = Random(seed)  # noqa: S311
    names = [f"topic-{i}" for i in range(rng.randint(2, 8))]
    topics = {name: _topic(rng, rng.randint(1, 16), has_racks) for name in names}
    members: Document = {}
    for _ in range(rng.randint(2, 20)):
        members |= _joined(rng, names, is_mixed, has_racks)
    for generation in range(rng.randint(1, 4) if has != "new" else 0):
        held = _answered(topics, members)
        for name, member in members.items():
            if has != "stale" or rng.randrange(4):
                member |= {"owned": held[name], "generation": generation}
        _churn(rng, topics, members, is_mixed, has_racks)
    return _document(topics, members)


def _document(topics: Document, members: Document) -> Document:
    return {
        "format": "rebalance/1", "group": "g", "topics": topics, "members": members
    }  # fmt: skip


def _topic(rng: Random, size: int, has_racks: bool) -> Document:
    if not has_racks:
        return {"partitions": size}
    racks = [rng.sample(RACKS, rng.randint(1, 3)) for _ in range(size)]
    return {"partitions": size, "racks": racks}


def _joined(
    rng: Random, topics: list[str], is_mixed: bool, has_racks: bool
) -> Document:
    wanted = rng.sample(topics, rng.randint(1, len(topics))) if is_mixed else topics
    member: Document = {"subscription": sorted(wanted)}
    if has_racks:
        member["rack"] = rng.choice(RACKS)
    return {f"consumer-{rng.getrandbits(48):012x}": member}


def _answered(topics: Document, members: Document) -> Document:
    text = json.dumps(_document(topics, members))
    instance = instance_of(parse_rebalance(text))
    answer = StickyAssignor().assign(instance)
    return document_of(instance, answer, assignor="sticky").members


def _churn(
    rng: Random, topics: Document, members: Document, is_mixed: bool, has_racks: bool
) -> None:
    """Remove and add members; with probability 1/4, a topic grows."""
    for name in rng.sample(sorted(members), min(len(members) - 1, rng.randint(0, 3))):
        del members[name]
    for _ in range(rng.randint(0, 3)):
        members |= _joined(rng, sorted(topics), is_mixed, has_racks)
    if rng.randrange(4) == 0:
        name = rng.choice(sorted(topics))
        more = _topic(rng, rng.randint(1, 4), has_racks)
        old = topics[name]
        topics[name] = {k: old[k] + more[k] for k in old}


def recorded() -> Iterator[Document]:
    """Yield every rebalance in the recordings that the published table is of."""
    for name in RECORDED_FOLDERS:
        with tempfile.TemporaryDirectory() as out:
            command = [sys.executable, "-m", "oracle", "audit", str(RECORDINGS / name)]
            subprocess.run([*command, "--out", out], check=True, capture_output=True)
            table = ds.dataset(Path(out) / "rebalances", partitioning="hive").to_table()
            for text in sorted(table.column("instance").to_pylist()):
                yield json.loads(text)

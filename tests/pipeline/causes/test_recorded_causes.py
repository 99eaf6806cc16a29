"""Causes in the recording against the log of the program that drove its groups.

The log lists each act on a consumer: start, leave, kill, freeze, subscribe.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.audit import AuditSummary
from pipeline.groups import group_source
from pipeline.tables import read_table
from tests.support.wire import RECORDINGS

Row = dict[str, Any]

ACTS = {
    "started": {"start", "thaw"},
    "joined": {"start", "thaw"},
    "returned": {"start", "thaw"},
    "left": {"leave", "kill", "freeze", "exit"},
    "left-briefly": {"leave", "kill", "freeze", "exit"},
    "resubscribed": {"subscribe"},
}
"""Acts that lead to each kind of cause."""
EVICTED_MS = 11_000
"""Until when the group has removed a consumer that does not join again."""

pytestmark = pytest.mark.heavy


class Stated(NamedTuple):
    """A member that a cause names, and the acts on its consumer until then."""

    group: str
    kind: str
    at: int
    acts: list[Row]

    @property
    def agrees(self) -> bool:
        """Whether one of the acts leads to the cause."""
        return any(act["event"] in ACTS[self.kind] for act in self.acts)


def acts_of_log() -> dict[tuple[str, str], list[Row]]:
    found = defaultdict(list)
    with gzip.open(RECORDINGS / "churn" / "_callbacks.jsonl.gz") as lines:
        for act in map(json.loads, lines):
            if act.get("by") == "driver" and act.get("client"):
                found[act["group"], act["client"]].append(act)
    return found


def milliseconds(row: Row) -> int:
    at: float = row["at"].timestamp()
    return round(at * 1000)


def stated(folder: Path) -> Iterator[Stated]:
    """Yield the members that causes of the classic groups name."""
    acts = acts_of_log()
    client = {
        row["member_id"]: row["client_id"]
        for row in read_table(folder, "members").to_pylist()
    }
    for row in read_table(folder, "rebalances").to_pylist():
        at, group = milliseconds(row), row["group_id"]
        for cause in row["causes"] if row["protocol"] == "classic" else ():
            for member in cause["members"]:
                mine = [act for act in acts[group, client[member]] if act["ms"] < at]
                yield Stated(group, cause["kind"], at, mine)


def test_causes_agree_with_the_log(churn_audit: AuditSummary) -> None:
    """All 567 members but nine have an act that leads to the cause.

    The nine are consumers of kafka-python (3.0.12) that did not join again after their
    subscription had changed (recordings/README.md): the group removed them.
    """
    every = [*stated(Path(churn_audit.out))]
    odd = [member for member in every if not member.agrees]
    for member in odd:
        assert (member.group, member.kind) == ("search-sticky", "left")
        last = member.acts[-1]
        assert last["event"] == "subscribe"
        assert member.at - last["ms"] < EVICTED_MS
    counts = Counter(member.kind for member in every)
    assert (len(odd), counts) == (9, COUNTS)


COUNTS = {
    "started": 36,
    "joined": 227,
    "returned": 27,
    "left": 186,
    "left-briefly": 23,
    "resubscribed": 68,
}


def test_recorded_kinds(churn_audit: AuditSummary) -> None:
    rows = read_table(Path(churn_audit.out), "rebalances").to_pylist()
    kinds = Counter(cause["kind"] for row in rows for cause in row["causes"])
    unknown = [row for row in rows if row["causes"][0]["kind"] == "unknown"]
    assert all(row["joined"] is None for row in unknown)
    # No topic of the recording grows.
    assert kinds["partitions-added"] == 0
    assert kinds["assignor-changed"] == 2  # the upgrade, and back
    appeared = Counter(
        row["group_id"]
        for row in rows
        for cause in row["causes"]
        if cause["kind"] == "topics-appeared"
    )
    # Leaders of kafka-python know only the topics of their own subscription at first.
    assert appeared == {"search-sticky": 10, "ads-java-coop": 1}


@pytest.mark.parametrize("group", ["search-sticky", "orders-range", "next-uniform"])
def test_causes_of_records_are_those_of_the_audit(
    group: str, churn_audit: AuditSummary
) -> None:
    sources = group_source(churn_audit.out), group_source(str(RECORDINGS / "churn"))
    found = [
        [source.causes(moment) for moment in source.moments(group)[::4]]
        for source in sources
    ]
    assert found[0] == found[1]
    assert all(found[0])

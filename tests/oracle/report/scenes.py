"""Rebalances that are small enough to check by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle.audit_diff.two_nights import monday, tuesday
from tests.oracle.cli.commands import AS_IT_STANDS, CHAIN
from tests.oracle.report.audits import Audit
from tests.support.shapes import Document


def even(group: str, **more: Any) -> Document:
    """Return two members that own two partitions each; a third has joined."""
    member = {"subscription": ["t"], "generation": 1}
    return {
        "format": "rebalance/1",
        "group": group,
        "topics": {"t": {"partitions": 4, **more}},
        "members": {
            "a": {**member, "owned": {"t": [0, 1]}},
            "b": {**member, "owned": {"t": [2, 3]}},
            "c": {"subscription": ["t"]},
        },
    }


def given(**members: list[int]) -> Document:
    """Return an assignment of topic t."""
    return {
        "format": "assignment/1",
        "members": {
            name: {"t": held} if held else {} for name, held in members.items()
        },
    }


BEST = given(a=[0, 1], b=[2], c=[3])
"""One move, the least."""
RESTLESS = given(a=[2, 3], b=[0], c=[1])
"""As even, but all four moved: three needlessly."""
LOPSIDED = given(a=[0, 1], b=[2, 3], c=[])
"""No move; c could have one."""
TWICE = given(a=[0, 1], b=[1, 2], c=[3])
"""t-1 has two owners."""
FORGOTTEN = given(a=[0, 1], b=[2], c=[])
"""t-3 has none."""

CHAINED: Document = {key: part for key, part in AS_IT_STANDS.items() if key != "id"}
"""`CHAIN` as it stands: no single transfer helps, three in a row do."""


def small_audit() -> Audit:
    """Return an audit of which every number is known.

    Eager, group orders (sticky), five rebalances: 1 at the optimum, 2 with 3 needless
    moves each, 1 unbalanced, 1 against the rules. Eager, group chain (range): 1
    unbalanced. Cooperative, group feed: 2 at rest (1 at the optimum, 1 with 3 needless
    moves), 1 open.
    """
    audit = Audit()
    for generation, answer in enumerate(
        (BEST, RESTLESS, RESTLESS, LOPSIDED, TWICE), start=1
    ):
        instance = even("orders", lag=[10, 20, 30, 40])
        others: dict[str, Document | str] = {
            "range": LOPSIDED,
            "constrained-sticky": BEST,
            "lag-aware": "the instance tells no lag",
        }
        answers = {"actual": answer, **others}
        audit.rebalance(instance, answers, generation=generation)
    audit.rebalance(
        CHAIN | {"group": "chain"},
        {"actual": CHAINED, "range": CHAINED, "constrained-sticky": "mixed"},
        assignor="range",
    )
    episode_of(audit, BEST, first=1)
    episode_of(audit, RESTLESS, first=3)
    episode_of(audit, BEST, first=5, ended="open")
    audit.quarantine("unreadable", "bytes end too early", 3, record="GroupMetadata")
    audit.quarantine("set-aside", "new group protocol (KIP-848)", 1200, record="Member")
    return audit


def with_snapshots(audit: Audit) -> Audit:
    """Add seven: 1 balanced, 1 unbalanced, 1 invalid, 3 unknown, 1 recorded."""
    audit.snapshot("logged", 1, balanced=True, verdict="valid")
    audit.snapshot("orders", 1, balanced=None, if_equal=True)
    audit.snapshot("orders", 2, balanced=None)
    audit.snapshot("orders", 3, balanced=True, verdict="valid", state_of="orders#1")
    audit.snapshot("billing", 1, balanced=False)
    audit.snapshot("billing", 2, balanced=None, verdict="invalid")
    audit.snapshot("calm", 1, balanced=None, if_equal=False)
    return audit


def episode_of(
    audit: Audit, after: Document, *, first: int, ended: str = "rest"
) -> None:
    """Add a cooperative rebalance of two rounds: revoke, then give away."""
    before = even("feed")
    key = audit.episode(
        before, after, first=first, last=first + 1, ended=ended, unowned_ms=1500
    )
    kept = {
        name: sorted(
            set(member.get("owned", {}).get("t", ()))
            & set(after["members"][name].get("t", ()))
        )
        for name, member in before["members"].items()
    }
    between = even("feed")
    for name, numbers in kept.items():
        between["members"][name]["owned"] = {"t": numbers}
    rounds = ((first, before, given(**kept)), (first + 1, between, after))
    for generation, instance, answer in rounds:
        audit.rebalance(
            instance,
            {"actual": answer},
            generation=generation,
            assignor="cooperative-sticky",
            cooperative=True,
            episode_id=key,
        )


def of_generations(**more: Any) -> Audit:
    """Return an audit of a chain as it stands, with the generations 40 and 41."""
    audit = Audit()
    for number in (40, 41):
        audit.rebalance(
            CHAIN | {"id": f"0/{number}"},
            {"actual": CHAINED},
            generation=number,
            source_offset=number,
            **more,
        )
    return audit


def of_one(instance: Document, actual: Document, **more: Any) -> Audit:
    """Return an audit of one rebalance, with an answer of ``sticky``."""
    audit = Audit()
    audit.rebalance(instance, {"actual": actual}, **more)
    return audit


SWAPPED = given(a=[2, 3], b=[0, 1], c=[])
"""Nobody keeps a partition."""
INCOMPLETE = CHAINED | {"members": CHAINED["members"] | {"a": {"t": [0]}}}
"""Without t-1: a round that withholds it, or an invalid assignment."""
AUDITS: dict[str, Callable[[], Audit]] = {
    "history": of_generations,
    "incomplete": lambda: of_one(CHAIN, INCOMPLETE),
    "first-round": lambda: of_one(
        CHAIN, INCOMPLETE, assignor="cooperative-sticky", cooperative=True
    ),
    "swapped": lambda: of_one(
        even("orders", lag=[400, 300, 200, 100]), SWAPPED, assignor="range"
    ),
    "monday": monday,
    "tuesday": tuesday,
}
"""Audits that sessions of the command line read, by the name of their folder."""

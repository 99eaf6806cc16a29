"""Judge one round of a cooperative rebalance, as a differential test has to.

The judge's claims end when their member leaves the topic: a real member revokes such
partitions before it joins again (KIP-429), so it withholds nothing for them. An
instance with such a claim states, however, that the member still holds the partition.
An assignor that believes it and waits for the member to revoke is not at fault in that
round; in the next one, the claim is gone, and the partition has to be assigned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import verify

Document = dict[str, Any]


class JudgedRound(NamedTuple):
    """A verdict, and the partitions that wait for a member that has left their topic.

    Attributes
    ----------
    verdict : verdict/1 document
        Without a violation for partitions that wait; `figures` count them as withheld.
    waiting : frozenset of (str, int)
        Topic and partition.
    """

    verdict: Document
    waiting: frozenset[tuple[str, int]]


def judge_round(
    case: verify.Case, rebalance: Mapping[str, Any], assignment: Document
) -> JudgedRound:
    """Judge a cooperative round; claims on topics that were left can withhold.

    Parameters
    ----------
    case : verify.Case
        The rebalance as the judge understands it.
    rebalance : rebalance/1 document
    assignment : assignment/1 document
    """
    verdict = verify.judge_case(case, assignment, cooperative=True)
    listed = [one for one in verdict["violations"] if one["rule"] == "unassigned"]
    if not listed:
        return JudgedRound(verdict, frozenset())
    waiting = _waiting(case, rebalance, assignment["members"])
    rest = [one for one in listed if (one["topic"], one["partition"]) not in waiting]
    more = dict(verdict.get("more_violations", {}))
    unlisted = len(listed) + more.pop("unassigned", 0) - len(waiting) - len(rest)
    others = [one for one in verdict["violations"] if one["rule"] != "unassigned"]
    if unlisted > 0:  # not all of them wait, and the list is too short to show which
        return JudgedRound(verdict, frozenset())
    violations = others + rest
    figures = verdict["figures"]
    kept = {key: verdict[key] for key in verdict if key != "more_violations"}
    judged = kept | {
        "verdict": "invalid" if violations else "valid",
        "violations": violations,
        "figures": figures | {"withheld": figures["withheld"] + len(waiting)},
        **({"more_violations": more} if more else {}),
    }
    return JudgedRound(judged, waiting)


def _waiting(
    case: verify.Case,
    rebalance: Mapping[str, Any],
    held: Mapping[str, Mapping[str, Sequence[int]]],
) -> frozenset[tuple[str, int]]:
    """Return unassigned partitions that only members that left their topic claim."""
    assigned = {(t, n) for _, t, numbers in verify.rows_of(held) for n in numbers}
    return frozenset(
        (topic, number)
        for name, member in rebalance["members"].items()
        for topic, numbers in member.get("owned", {}).items()
        if case.subscribers.get(topic) and topic not in case.wants[name]
        for number in numbers
        if number < case.partitions[topic]
        and number not in case.claimants.get(topic, {})
        and (topic, number) not in assigned
    )

"""Rebalances in sequence, in which members claim the assignor's last answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from conformance.testing.assigned_members import (
    Assignment,
    Document,
    assignment_document,
)

Assign: TypeAlias = Callable[[Document], Assignment]
"""An assignor: from a rebalance/1 document to an assignment in any form."""

ROUNDS: Final = 10
"""Rounds after which a cooperative rebalance without an end is an error.

One round revokes, the next assigns the revoked partitions; more are needed only while
an assignor changes its mind.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Churn:
    """States of one group in sequence.

    Attributes
    ----------
    states
        rebalance/1 documents without claims, at least one.
    """

    states: tuple[Document, ...]

    def run(
        self, assign: Assign, *, cooperative: bool = False
    ) -> Iterator[tuple[Document, Assignment]]:
        """Yield each rebalance with the assignor's answer.

        A member claims its partitions of the last answer, with the generation of that
        answer. A member that returns claims the partitions that it owned when it left,
        with the older generation (KIP-341).

        Parameters
        ----------
        assign : callable
            Called once per rebalance, when the next pair is requested.
        cooperative : bool
            Members that had to revoke partitions rejoin (KIP-429): further rounds of
            the same state follow until no member has to.

        Raises
        ------
        AssertionError
            If a cooperative rebalance needs more than `ROUNDS` rounds.
        """
        __tracebackhide__ = True
        claims: dict[str, Document] = {}
        generation = 0
        for state in self.states:
            for _ in range(ROUNDS):
                generation += 1
                instance = _with_claims(state, claims)
                answer = assign(instance)
                yield instance, answer
                given = assignment_document(answer)["members"]
                revoked = _update(claims, instance, given, generation)
                if not (cooperative and revoked):
                    break
            else:
                raise AssertionError(
                    f"restless: members still revoke partitions after {ROUNDS} rounds "
                    f"of the same group: {sorted(state['members'])}"
                )


def _with_claims(state: Document, claims: dict[str, Document]) -> Document:
    """Return a copy of a state in which members state their claims."""
    members = {
        name: {
            **member,
            "subscription": list(member["subscription"]),
            **claims.get(name, {}),
        }
        for name, member in state["members"].items()
    }
    topics = {name: dict(topic) for name, topic in state["topics"].items()}
    return {**state, "topics": topics, "members": members}


def _update(
    claims: dict[str, Document], instance: Document, given: Any, generation: int
) -> bool:
    """Set the members' claims to an answer; return whether one had to revoke."""
    revoked = False
    for name, member in instance["members"].items():
        owned = {t: sorted({*n}) for t, n in given.get(name, {}).items() if n}
        for topic, numbers in member.get("owned", {}).items():
            revoked |= not {*numbers} <= {*owned.get(topic, ())}
        claims[name] = {"owned": owned, "generation": generation}
    return revoked

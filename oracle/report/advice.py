"""Advice for each group: settings that an operator can change, with the evidence.

A group that falls short of the optimum with an eager assignor is compared with Kafka's
other assignors of its protocol on the same rebalances; those that its client does not
have are not advised. Cooperative groups are not compared: their assignor is already
sticky, and their generations are rounds. `oracle.report.advice_words` has the wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import pyarrow as pa

from oracle.report.client_settings import SettingChange, changes
from oracle.report.group_clients import UNKNOWN, ClientEvidence, evidence_of
from oracle.report.known_faults import InvalidAnswer, invalid_answers
from oracle.report.load import Tables
from oracle.report.outcomes import OutcomeCounts
from oracle.summary import CLASSIC, CONSUMER, INVALID, equals, last_units

Group = tuple[str, str]

ENOUGH_JUDGED: Final = 5
"""Judged rebalances from which an average is evidence."""
LEAST_SAVED: Final = 0.05
"""Partitions per rebalance; less is nothing, rounded."""
_OURS: Final = {
    "roundrobin": "round-robin",
    "RoundRobinAssigner": "round-robin",
    "cooperative-sticky": "sticky",
}
"""Names of clients' assignors, and ours."""


class AdviceKind(StrEnum):
    """Kinds of advice.

    Attributes
    ----------
    REASSIGN
        The last assignment is invalid: restart a member, so that the group assigns
        anew.
    FINDING
        A finding may explain the newest invalid answer.
    LEFT_OUT
        The newest invalid answer, which is a leader's, omits whole topics.
    ASSIGNOR
        Another assignor has less potential gain on the group's own rebalances.
    BALANCE
        Another assignor would have balanced the last assignment.
    NO_SETTING
        There is something to gain, but not by a setting; ``reason`` is why.
    MEMBERS
        There are more members than partitions.
    NOTHING
        Every judged rebalance is at the optimum.
    NOT_JUDGED
        Nothing is judged; ``reason`` is why.
    FORMER
        The group now uses another assignor.
    """

    REASSIGN = "reassign"
    FINDING = "finding"
    LEFT_OUT = "left-out"
    ASSIGNOR = "assignor"
    BALANCE = "balance"
    NO_SETTING = "no-setting"
    MEMBERS = "members"
    NOTHING = "nothing"
    NOT_JUDGED = "not-judged"
    FORMER = "former"


class Ground(StrEnum):
    """Ground on which no setting is advised, or nothing is judged.

    Attributes
    ----------
    COOPERATIVE
        Cooperative rebalances are not compared with other assignors.
    FEW
        Fewer judged rebalances than `ENOUGH_JUDGED`.
    NONE_BETTER
        No assignor that applies to all of the rebalances does better.
    CLIENT_LACKS
        Those that do better are not in the group's client.
    UNFINISHED
        Its cooperative rebalances were not finished when the source ended.
    NO_PROOF
        No optimum was proved.
    """

    COOPERATIVE = "cooperative"
    FEW = "few"
    NONE_BETTER = "none-better"
    CLIENT_LACKS = "client-lacks"
    UNFINISHED = "unfinished"
    NO_PROOF = "no-proof"


@dataclass(frozen=True, slots=True, kw_only=True)
class GainPerRebalance:
    """Potential gain in partitions per rebalance: the group's own, and another's."""

    now: float
    then: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleMembers:
    """Members and partitions of the last rebalance; a partition has one member."""

    members: int
    partitions: int

    @property
    def idle(self) -> int:
        """Members that no assignment can give a partition."""
        return self.members - self.partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One piece of advice; fields that its kind does not have are None or empty.

    Attributes
    ----------
    kind : of the advice
    assignor : our name of the one that is advised; or the one that is used now
    gain : by the assignor; of `NO_SETTING` only ``now`` counts, unless the client lacks
        the assignor
    transfers : least number that would balance the last assignment
    changes : the settings, per client
    clients : evidence of the clients that the settings are for
    reason : of `NO_SETTING` and `NOT_JUDGED`
    answer : the newest invalid answer, with the findings
    members : of `MEMBERS`
    """

    kind: AdviceKind
    assignor: str | None = None
    gain: GainPerRebalance | None = None
    transfers: int = 0
    changes: tuple[SettingChange, ...] = ()
    clients: ClientEvidence = UNKNOWN
    reason: Ground | None = None
    answer: InvalidAnswer | None = None
    members: IdleMembers | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """Another assignor on the rebalances of a group, by our name."""

    name: str
    judged: int
    gain: int
    spoiled: int

    @property
    def rate(self) -> float:
        return self.gain / self.judged if self.judged else 0.0


class Advisor:
    """Advice for each group of an audit."""

    def __init__(self, tables: Tables, units: pa.Table) -> None:
        last = last_units(units)
        self._last = {(row["cluster"], row["group_id"]): row for row in last}
        self._gains = {
            (row["cluster"], row["group_id"], row["client_assignor"] or None): row
            for row in tables.gains.to_pylist()
        }
        self._of_consumers = _assignors_of_consumers(tables.rebalances)
        self._clients = evidence_of(tables.folder, last)
        self._invalid = invalid_answers(tables.folder, tables.actual, self._clients)

    def advice(
        self,
        group: Group,
        assignor: str | None,
        counts: OutcomeCounts,
        *,
        cooperative: bool,
    ) -> tuple[Advice, ...]:
        """Return at least one piece of advice for a group with one of its assignors."""
        last = self._last[group]
        now = last["client_assignor"] or None
        if now != assignor:
            return (Advice(kind=AdviceKind.FORMER, assignor=now),)
        found = [
            *self._validity(group, assignor, last),
            *self._assignment(group, assignor, counts, last, cooperative),
            *_members(last),
        ]
        if not counts.judged:
            reason = Ground.UNFINISHED if cooperative else Ground.NO_PROOF
            found.insert(0, Advice(kind=AdviceKind.NOT_JUDGED, reason=reason))
        return tuple(found) or (Advice(kind=AdviceKind.NOTHING),)

    def _validity(
        self, group: Group, assignor: str | None, last: Mapping[str, Any]
    ) -> list[Advice]:
        answer = self._invalid.get((*group, assignor))
        found = []
        if last["outcome"] == INVALID:
            found.append(Advice(kind=AdviceKind.REASSIGN, answer=answer))
        if answer is not None and answer.faults:
            clients = self._clients[group]
            found.append(
                Advice(kind=AdviceKind.FINDING, answer=answer, clients=clients)
            )
        elif answer and answer.left_out and assignor not in self._of_consumers:
            found.append(Advice(kind=AdviceKind.LEFT_OUT, answer=answer))
        return found

    def _assignment(
        self,
        group: Group,
        assignor: str | None,
        counts: OutcomeCounts,
        last: Mapping[str, Any],
        cooperative: bool,
    ) -> list[Advice]:
        """Return the advice about another assignor, if there is something to gain."""
        if not counts.gain:
            return []
        now, transfers = counts.gain / counts.judged, last["transfers"]
        others = [] if cooperative else self._others(group, assignor)
        clients = self._clients[group]
        had = [other for other in others if clients.offers(other.name)]
        better = _best(had, now, counts)
        settling = [other for other in had if transfers and _settles(other, counts)]
        if better is not None or settling:
            other = better or settling[0]
            return [
                Advice(
                    kind=AdviceKind.ASSIGNOR if better else AdviceKind.BALANCE,
                    assignor=other.name,
                    gain=GainPerRebalance(now=now, then=other.rate),
                    transfers=transfers if _settles(other, counts) else 0,
                    changes=changes(clients.clients, assignor, other.name),
                    clients=clients,
                )
            ]
        lacked = _best(others, now, counts)
        return [
            Advice(
                kind=AdviceKind.NO_SETTING,
                assignor=lacked.name if lacked else None,
                gain=GainPerRebalance(now=now, then=lacked.rate if lacked else now),
                transfers=transfers,
                clients=clients,
                reason=_reason(counts, lacked, cooperative),
            )
        ]

    def _others(self, group: Group, assignor: str | None) -> list[_Comparison]:
        """Return the other assignors of its protocol that apply to every rebalance."""
        sums = self._gains.get((*group, assignor))
        names = CONSUMER if assignor in self._of_consumers else CLASSIC
        own = _OURS.get(assignor or "", assignor)
        if sums is None:
            return []
        return [
            _Comparison(
                name=name,
                judged=sums[f"judged {name}"],
                gain=sums[f"gain {name}"],
                spoiled=sums[f"spoiled {name}"],
            )
            for name in names
            if name != own and sums[f"judged {name}"] and not sums[f"refused {name}"]
        ]


def _assignors_of_consumers(rebalances: pa.Table) -> set[str | None]:
    """Return the assignors of the new protocol (KIP-848), as clients name them."""
    flags = equals(rebalances["protocol"], "consumer")
    return set(rebalances["client_assignor"].filter(flags).unique().to_pylist())


def _best(
    others: list[_Comparison], now: float, counts: OutcomeCounts
) -> _Comparison | None:
    """Return the best of the others, if it saves something that can be seen."""
    compared = [other for other in others if other.judged >= ENOUGH_JUDGED]
    if counts.judged < ENOUGH_JUDGED or not compared:
        return None
    best = min(compared, key=lambda other: other.rate)
    return best if now - best.rate >= LEAST_SAVED else None


def _settles(other: _Comparison, counts: OutcomeCounts) -> bool:
    """Return whether it balances all rebalances of the group, and so the last one."""
    return other.judged == counts.total and not other.spoiled


def _reason(
    counts: OutcomeCounts, lacked: _Comparison | None, cooperative: bool
) -> Ground:
    if cooperative:
        return Ground.COOPERATIVE
    if lacked is not None:
        return Ground.CLIENT_LACKS
    return Ground.FEW if counts.judged < ENOUGH_JUDGED else Ground.NONE_BETTER


def _members(last: Mapping[str, Any]) -> list[Advice]:
    members, partitions = last["members"] or 0, last["partitions"] or 0
    if not 0 < partitions < members:
        return []
    idle = IdleMembers(members=members, partitions=partitions)
    return [Advice(kind=AdviceKind.MEMBERS, members=idle)]

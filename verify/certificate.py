"""Does a certificate prove its assignment optimal? Two integers a member are enough.

The certificate gives each member a *level* and a *price*. Whatever integers it
gives, a wrong one can fail to prove something true but never prove something false:

Balance. A member of level q pays at least q*q + (2q + 1)(n - q) for n partitions
when the cost of n is n*n, and exactly that only for n = q and n = q + 1. Summed over
the members of any valid assignment, the right side is a constant plus 2q + 1 for
every partition, q the level of the member it sits on; that is least when every
partition sits on a subscriber of the least level. An assignment whose partitions all
sit there and whose loads are all q or q + 1 therefore has the least sum of squares
there is, which only the dec-min vector has; and any other assignment that has it too
meets the same two conditions.

Balance with capacities. The same with another cost: what `verify.keys` tells, where
the n-th partition of a member costs the more the larger its key is. Each member has
a *threshold*, any key; at that price its keys below it are bought, those above are
not, and one that is equal may be, so least and most are counts of keys. Partitions
sit where the threshold is least. Nothing else changes.

Balance under conditions. Neither argument asked why a partition may sit where it
may. If each partition has a set of *seats* that it must sit on, and each sits on one
of the least level among them, the vector is the least that these seats leave. A
policy with moves or racks before ``load`` leaves each partition the seats that are
best for it alone: if the sums are the least there can be, each partition has one.

Prices. So in every assignment that is as balanced, a partition p sits on one of its
seats of the least level. Take any prices u, and any weights for what is to be small,
moves and rack mismatches. What an assignment costs is the sum over partitions of
(cost + u) of the member they sit on, less the sum over members of u times load. The
first is at least the best seat of each partition. For the second, each load is least
or most, and how many members of a level have the most is no choice: the partitions
whose seats have that level, less the least of each member. So it is at most least*u
for each member and the u of that many members, those with the largest of those whose
least and most differ. A member that is nobody's seat has no partition and no extra
one. When the difference equals what the assignment costs, nothing costs less.

Without weights the prices are of stickiness: so many moves at least, that is, so many
kept at most. With weights the bound says a*moves + b*mismatches >= B; of all pairs of
counts that this leaves, the first in a policy's order is what no assignment beats,
level by level (`verify.prices`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from verify.case import Case, Row
from verify.figures import loads_of
from verify.keys import is_weighted
from verify.policy import Level
from verify.prices import MOVES, asks_racks, count_owned, least_values, priced_bound
from verify.seats import Certificate, Face, Seating, face_of, least_places

Reason = dict[str, Any]
STICKINESS: Level = ((1, "stickiness"),)


def balance_fails(
    case: Case,
    rows: Sequence[Row],
    certificate: Certificate,
    before: Sequence[Level] = (),
) -> Reason | None:
    """Return where a certificate fails to prove the load vector least, or None.

    Parameters
    ----------
    before : levels
        Objectives, sums of moves and mismatches, that leave each partition only its
        best seats (`split`). That they do is for the caller to see: the assignment
        must reach `separate_values`.
    """
    fails = _levels_fail(case, certificate)
    if fails is not None:
        return fails
    face = face_of(case, certificate)
    for member, load in loads_of(case, rows).items():
        if not face.low[member] <= load <= face.high[member]:
            found = {"level": certificate["level"][member], "load": load}
            return {"fails": "load", "member": member, **found}
    return _misplaced(case, rows, face, before)


def stickiness_fails(case: Case, certificate: Certificate, kept: int) -> Reason | None:
    """Return how far a certificate of balance is from proving ``kept`` the most."""
    bound = kept_bound(case, certificate)
    return None if bound == kept else {"fails": "bound", "kept": kept, "bound": bound}


def kept_bound(case: Case, certificate: Certificate) -> int:
    """Return what no balanced assignment keeps more than, by the levels' proof."""
    weights = certificate.get("weights", MOVES)
    bound = priced_bound(case, certificate, weights)
    least = least_values(case, [STICKINESS], weights, bound)
    return count_owned(case) - (least[0] if least else 0)


def _levels_fail(case: Case, certificate: Certificate) -> Reason | None:
    """Return what is missing for a certificate to say anything, or None."""
    parts = ["level", "price"]
    if is_weighted(case) or "threshold" in certificate:
        parts.append("threshold")
    for part in parts:
        odd = min(certificate.get(part, {}).keys() ^ case.wants.keys(), default=None)
        if odd is not None:
            return {"fails": "members", "part": part, "member": odd}
    face = face_of(case, certificate)
    for member, level in certificate["level"].items():
        if face.low[member] != level:
            found = {"level": level, "keys": face.low[member]}
            return {"fails": "threshold", "member": member, **found}
    return None


def _misplaced(
    case: Case, rows: Sequence[Row], face: Face, before: Sequence[Level]
) -> Reason | None:
    """Return a partition that sits elsewhere than on its seats of the least level."""
    misplaced = []
    for member, topic, numbers, least in _seated(case, rows, face, before):
        if face.place[member] != least:
            misplaced.append((member, topic, min(numbers), face.place[member], least))
    if not misplaced:
        return None
    member, topic, number, place, least = min(misplaced)
    where = {"member": member, "topic": topic, "partition": number}
    return {"fails": "place", **where, "level": place, "least": least}


def _seated(
    case: Case, rows: Sequence[Row], face: Face, before: Sequence[Level]
) -> Iterator[tuple[str, str, Sequence[int], int]]:
    """Yield who holds what, with the least place of its seats."""
    if not before:
        floor = least_places(case, face)
        yield from ((*row, floor[row[1]]) for row in rows if row[2])
        return
    seating = Seating(
        case,
        racks=asks_racks(before),
        place=lambda _, member: face.place[member],
        before=before,
    )
    for member, topic, numbers in rows:
        for number in numbers:
            seats = seating.seats(seating.kind_of(topic, number))
            yield member, topic, [number], seats[0].place


def peak_lag_bound(case: Case) -> int | None:
    """Return what no valid assignment's peak lag is below; None if no lag is told.

    Some member is at least the average behind, and some member takes the partition
    that is furthest behind.
    """
    served = {topic for topic, names in case.subscribers.items() if names}
    lags = [case.lag[topic] for topic in served & case.lag.keys()]
    if not lags:
        return None
    takers = sum(1 for wanted in case.wants.values() if wanted)
    average = -(-sum(map(sum, lags)) // takers)
    return max(average, *(max(behind, default=0) for behind in lags))

"""Statements on why no better assignment exists, each checked by counting.

The checks use the instance as the judge reads it, and the levels of a certificate that
the judge has accepted. They share nothing with the search for the statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from oracle.explanation.bound_records import CrowdedClaims, OutrankedClaims, TightBlock
from oracle.explanation.explained_case import (
    ExplainedCase,
    Members,
    load_of,
    require,
)
from oracle.explanation.statements import Statements
from solver.explanation import (
    Crowd,
    Outranked,
    blocks_of,
    crowds_of,
    outranked_claims,
)

LISTED: Final = 100
"""Statements of one kind in a document; each costs a count of its members."""

Key = tuple[Fraction, int]


class MemberLevels(NamedTuple):
    """Levels of a certificate by member, as far as the checks need them."""

    key: Mapping[str, Key]  # orders the levels
    low: Mapping[str, int]
    is_flexible: Mapping[str, bool]  # whether a load can be one more than ``low``
    loads: Mapping[Key, tuple[int, int]]  # least and most; empty with capacities


class TightSets:
    """Blocks of the optimum's certificate, and the statements on them.

    ``members`` have the values of the optimum; statements are added to ``found``.

    Raises
    ------
    CheckError
        If the judge does not accept the certificate.
    """

    def __init__(
        self, about: ExplainedCase, found: Statements, members: Members
    ) -> None:
        self.about, self.found, self.members = about, found, members
        self.certificate = about.stickiest().require_certificate()
        self.blocks = blocks_of(about.instance, self.certificate)
        self.levels = _levels(about)
        topics, names = about.instance.topics, about.instance.members
        self.topics = [[topics[t] for t in block.topics] for block in self.blocks]
        self.names = [[names[m] for m in block.members] for block in self.blocks]

    def add_blocks(self) -> None:
        """State which partitions can only go to which members.

        Raises
        ------
        CheckError
            If the sets of all blocks of a level and above are not tight.
        """
        self._check_upper_sets()
        for number in range(min(len(self.blocks), LISTED)):
            with self.found.checking():
                record = self._block_record(number)
                self._check_block(record)
                self.found.add(record)
        self.found.count_more("block", len(self.blocks) - LISTED)

    def add_claims(self) -> None:
        """State which claims no balanced assignment keeps."""
        instance = self.about.instance
        outranked = outranked_claims(instance, self.certificate)
        for forbidden in outranked[:LISTED]:
            with self.found.checking():
                record = self._outranked_record(forbidden)
                self._check_outranked(record)
                self.found.add(record)
        self.found.count_more("outranked", len(outranked) - LISTED)
        crowds = crowds_of(instance, self.certificate, self.blocks)
        for crowd in crowds[:LISTED]:
            with self.found.checking():
                claims = self._claims_record(crowd)
                self._check_claims(claims, crowd)
                self.found.add(claims)
        self.found.count_more("claims", len(crowds) - LISTED)

    def _load(self, name: str) -> int:
        return load_of(self.members, name)

    def _block_record(self, number: int) -> TightBlock:
        case, instance = self.about.case, self.about.instance
        topics, names = set(self.topics[number]), set(self.names[number])
        subscribers = {name for topic in topics for name in case.subscribers[topic]}
        wanted = {topic for name in names for topic in case.wants[name]}
        loads = sorted(
            ((self._load(name), case.capacity[name]) for name in names), reverse=True
        )
        found = TightBlock(
            text="",
            topics=self.topics[number],
            partitions=int(instance.topic_sizes[self.blocks[number].topics].sum()),
            members=self.names[number],
            loads=[load for load, _ in loads],
            above=sorted(subscribers - names),
            below=sorted(t for t in wanted - topics if case.partitions[t]),
        )
        if instance.capacity is not None:
            return found.model_copy(update={"capacities": [w for _, w in loads]})
        if not found.below:
            return found
        most = max(self.levels.loads[self._lowest(t)][1] for t in found.below)
        extremes = {"least": min(found.loads), "most_below": most}
        return found.model_copy(update=extremes)

    def _check_block(self, block: TightBlock) -> None:
        """Count the partitions and loads, and compare the levels of all others."""
        case, key, inside = self.about.case, self.levels.key, set(block.members)
        above, topics = set(block.above), set(block.topics)
        place = key[block.members[0]]
        partitions = sum(case.partitions[t] for t in topics)
        require(
            partitions == block.partitions == sum(block.loads),
            "the members hold as many partitions as the topics have",
        )
        for topic in topics:
            others = set(case.subscribers[topic]) - inside
            require(others <= above, "nobody else subscribes")
        require(all(key[name] > place for name in above), "the others have more")
        for name in block.members:
            require(key[name] == place, "the members have one level")
            held = {topic for topic, numbers in self.members[name].items() if numbers}
            require(held <= topics, "the members hold nothing else")
        below = set(block.below)
        for name in block.members:
            wanted = {t for t in case.wants[name] if case.partitions[t]}
            require(wanted <= topics | below, "the members can hold nothing else")
        for topic in below:
            is_lower = self._lowest(topic) < place
            require(is_lower, "the other topics go to members with a lower level")
        if self.about.instance.capacity is None:
            require(max(block.loads) - min(block.loads) <= 1, "the loads are even")
            self._compare_loads(block)

    def _compare_loads(self, block: TightBlock) -> None:
        """Compare the loads that the sentence compares, in any balanced assignment.

        The loads of a block have one sum and differ by at most 1, so their least is
        that of this assignment.
        """
        loads = [self._load(name) for name in block.members]
        require(sorted(loads, reverse=True) == block.loads, "the loads are counted")
        most = max(loads)
        for name in block.above:
            least, _ = self.levels.loads[self.levels.key[name]]
            require(least >= most, "the others hold at least as many in any case")
            require(self._load(name) >= least, "they do here")
        if block.least is not None and block.most_below is not None:
            holds = min(loads) == block.least >= block.most_below
            require(holds, "those hold no more")

    def _lowest(self, topic: str) -> Key:
        """Return the lowest level of the subscribers of a topic."""
        return min(self.levels.key[name] for name in self.about.case.subscribers[topic])

    def _check_upper_sets(self) -> None:
        """Count that members of each level and above hold all that only they can hold.

        Their number of partitions is then the least that they can hold together.
        """
        case, inside, blocks = self.about.case, set[str](), self.blocks
        partitions = held = 0
        for number, block in enumerate(blocks):
            inside |= set(self.names[number])
            held += sum(map(self._load, self.names[number]))
            partitions += sum(case.partitions[topic] for topic in self.topics[number])
            is_last = (
                number + 1 == len(blocks) or blocks[number + 1].place != block.place
            )
            if is_last:
                require(held == partitions, "the set is tight")
        for topic, names in case.subscribers.items():
            if names and case.partitions[topic]:
                for name in set(names) - inside:  # a level above its first partition
                    require(self._load(name) == 0, "others hold nothing")

    def _claims_record(self, crowd: Crowd) -> CrowdedClaims:
        topics, members = self.about.instance.topics, self.about.instance.members
        return CrowdedClaims(
            text="",
            members=[members[m] for m in crowd.members],
            topics=[topics[t] for t in crowd.block.topics],
            claims=crowd.claims,
            others=crowd.others,
            room=crowd.room,
            leaving=crowd.leaving,
        )

    def _check_claims(self, claims: CrowdedClaims, crowd: Crowd) -> None:
        """Count claims, others, and room from the instance and the levels."""
        case, levels, inside = self.about.case, self.levels, set(claims.members)
        block = {self.about.instance.members[m] for m in crowd.block.members}
        mine = others = 0
        for topic in claims.topics:
            eligible = [name for name in case.subscribers[topic] if name in block]
            owned = {name: len(case.owned.get((name, topic), ())) for name in eligible}
            mine += sum(owned[name] for name in eligible if name in inside)
            if inside.issuperset(eligible):
                others += case.partitions[topic] - sum(owned.values())
        extra = sum(case.partitions[t] for t in claims.topics)
        extra -= sum(levels.low[name] for name in block)
        room = sum(levels.low[name] for name in inside)
        room += min(extra, sum(levels.is_flexible[name] for name in inside))
        found = (mine, others, room, mine + others - room)
        stated = (claims.claims, claims.others, claims.room, claims.leaving)
        require(found == stated, f"counted {found}, stated {stated}")

    def _outranked_record(self, found: Outranked) -> OutrankedClaims:
        about, key, loads = self.about, self.levels.key, self.levels.loads
        name = about.instance.members[found.member]
        topic = about.instance.topics[found.topic]
        lowest = self._lowest(topic)
        claims = OutrankedClaims(
            text="",
            member=name,
            topic=topic,
            partitions=[about.spot(row)[1] for row in found.partitions],
            to=[
                other for other in about.case.subscribers[topic] if key[other] == lowest
            ],
            by_capacity=about.instance.capacity is not None,
        )
        if claims.by_capacity:
            return claims
        extremes = {"least": loads[key[name]][0], "most": loads[lowest][1]}
        return claims.model_copy(update=extremes)

    def _check_outranked(self, found: OutrankedClaims) -> None:
        """Look up the claims, and compare the levels."""
        case, key = self.about.case, self.levels.key
        owned = case.owned.get((found.member, found.topic), set())
        require(owned.issuperset(found.partitions), "the member owns the partitions")
        for name in found.to:
            require(found.topic in case.wants[name], "the others subscribe")
            require(key[name] < key[found.member], "their level is lower")
        if found.least is not None and found.most is not None:
            require(found.most <= found.least, "they hold at most as many in any case")


def _levels(about: ExplainedCase) -> MemberLevels:
    """Read the levels of the certificate, which the judge has to accept.

    A key (n, w) of a threshold is ordered by n ÷ w, then by capacity, largest first
    (docs/method.md).
    """
    require(about.are_levels_proved, "the judge accepts the certificate of balance")
    document: Mapping[str, Any] = about.stickiest_document["certificate"]
    low: dict[str, int] = document["level"]
    if "threshold" not in document:
        keys = {name: (Fraction(level), 0) for name, level in low.items()}
        loads = _loads_by_level(about, keys, low)
        return MemberLevels(keys, low, dict.fromkeys(low, True), loads)
    pairs: Iterable[tuple[str, Sequence[int]]] = document["threshold"].items()
    keys = {name: (Fraction(n, w), -w) for name, (n, w) in pairs}
    flexible = {name: -keys[name][1] == w for name, w in about.case.capacity.items()}
    return MemberLevels(keys, low, flexible, {})


def _loads_by_level(
    about: ExplainedCase, keys: Mapping[str, Key], low: Mapping[str, int]
) -> dict[Key, tuple[int, int]]:
    """Return the least and the most load of a member of each level.

    In every balanced assignment the members of a level hold the partitions of the
    topics whose lowest level it is, and each has ``low`` or one more.
    """
    case = about.case
    members = Counter(keys.values())
    beyond: Counter[Key] = Counter()
    for topic, names in case.subscribers.items():
        if names:
            beyond[min(keys[name] for name in names)] += case.partitions[topic]
    for name, least in low.items():
        beyond[keys[name]] -= least
    least_of = {keys[name]: least for name, least in low.items()}
    return {
        key: (least + (beyond[key] >= members[key]), least + (beyond[key] > 0))
        for key, least in least_of.items()
    }

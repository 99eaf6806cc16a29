"""Sentences of statements that no assignment is better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from oracle.explanation.bound_records import (
    Certified,
    CrowdedClaims,
    LowerBound,
    OutrankedClaims,
    TightBlock,
    Uncheckable,
)
from oracle.explanation.phrases import (
    NAMES_SHOWN,
    loads_list,
    name_text,
    names_text,
    numbers_text,
    scope_text,
    value_text,
)
from oracle.explanation.sentences import sentence_of
from oracle.names import visible
from oracle.wording import counted


@sentence_of.register
def _tight_block_text(block: TightBlock) -> str:
    listed = names_text(block.topics, many="topics")
    what = "topic" if len(block.topics) == 1 else "topics"
    number = (
        f"All {block.partitions:,} partitions" if block.partitions > 1 else "The one"
    )
    number += " partition" if block.partitions == 1 else ""
    only = "" if block.above else "only "
    people = names_text(block.members, many="members")
    text = f"{number} of {what} {listed} can {only}go to {people}"
    ratio = block.capacities is not None
    if block.above:
        others = names_text(block.above, many="members")
        verb = "holds" if len(block.above) == 1 else "hold"
        more = "at least as many in any case"
        text += f", or to {others}, "
        text += (
            "whose level (load ÷ capacity) is higher"
            if ratio
            else f"which {verb} {more}"
        )
    even = f"{_block_loads(block)} is the most even"
    if not block.below:
        return f"{text}, so {even}."
    others = names_text(block.below, many="topics")
    if block.least is None or block.most_below is None:
        fewer = "whose level is lower"
    elif block.most_below < block.least:
        fewer = "with fewer partitions"
    else:
        fewer = "that hold at most as many partitions even so"
    which = "other topic" if len(block.below) == 1 else "other topics"
    verb = "goes" if len(block.below) == 1 else "go"
    return (
        f"{text}. The {which} of these members, {others}, {verb} to members {fewer}."
        f" So {even}."
    )


def _block_loads(block: TightBlock) -> str:
    if block.capacities is None:
        return loads_list(block.loads)
    pairs = list(zip(block.loads, block.capacities, strict=True))
    listed = [f"{load:,} (capacity {w:,})" for load, w in pairs[:NAMES_SHOWN]]
    more = len(pairs) - len(listed)
    return ", ".join(listed) + (f" and {more:,} more" if more else "")


@sentence_of.register
def _crowded_claims_text(claims: CrowdedClaims) -> str:
    people = names_text(claims.members, many="members")
    own = "owns" if len(claims.members) == 1 else "own"
    text = (
        f"{people} {own} {counted(claims.claims, 'partition')} that balance would let"
        f" {'it' if len(claims.members) == 1 else 'them'} keep, but can hold at most"
        f" {claims.room:,}"
    )
    text += "" if len(claims.members) == 1 else " together"
    if claims.others:
        text += f", of which {claims.others:,} must be others that nobody else can hold"
    verb = "has" if claims.leaving == 1 else "have"
    return f"{text}: at least {claims.leaving:,} {verb} to go to other members."


@sentence_of.register
def _outranked_claims_text(claims: OutrankedClaims) -> str:
    to = names_text(claims.to, many="members")
    verb = "holds" if len(claims.to) == 1 else "hold"
    if claims.least is None or claims.most is None:
        than = "whose level is lower"
    elif claims.most < claims.least:
        than = f"which {verb} less"
    else:
        than = f"which {verb} at most as many partitions even so"
    number = len(claims.partitions)
    numbers = numbers_text(claims.partitions)
    return (
        f"{name_text(claims.member)} cannot keep {name_text(claims.topic)}:{numbers}"
        f" ({counted(number, 'partition')}): balance requires that the topic goes to"
        f" {to}, {than}."
    )


@sentence_of.register
def _lower_bound_text(lower: LowerBound) -> str:
    bound = value_text(lower.bound, lower.scale)
    why = _TERMS.get(lower.term.kind, _other_term)(lower)
    scope = scope_text(lower.after)
    return f"No allowed assignment{scope} has a {lower.of} below {bound}: {why}."


@sentence_of.register
def _uncheckable_text(uncheckable: Uncheckable) -> str:
    bound = value_text(uncheckable.bound, uncheckable.scale)
    return (
        f"That no allowed assignment{scope_text(uncheckable.after)} has a"
        f" {uncheckable.of} below {bound} is the report of a search"
        f" ({visible(uncheckable.engine, limit=60)}), which cannot be checked."
    )


@sentence_of.register
def _certified_text(certified: Certified) -> str:
    if certified.of == "stickiness" and certified.same_balance and not certified.after:
        moves = counted(int(str(certified.bound)), "move")
        what = f"No equally balanced assignment has fewer than {moves}"
    else:
        bound, scope = (
            value_text(certified.bound, certified.scale),
            scope_text(certified.after),
        )
        what = f"No allowed assignment{scope} has a {certified.of} below {bound}"
    return f"{what}: the certificate proves it, and the judge has checked it."


def _average(bound: LowerBound) -> str:
    names = bound.term.members
    if bound.topics is None or bound.lag is None or bound.members is None:
        unit = "" if bound.scale is None else " per unit of capacity"
        if names is None and bound.term.topics:
            topics = names_text(bound.term.topics, many="topics")
            return (
                f"this is the mean of the lag of topic {topics}{unit} over the members"
                " that can receive it, rounded up"
            )
        if names is None:
            return f"this is the mean{unit} over all members, rounded up"
        return (
            f"some partitions can only go to {names_text(names, many='members')}, and"
            f" this is the mean of their lag{unit} over these members, rounded up"
        )
    lag = counted(bound.lag, "record")
    if names is None:
        people = counted(bound.members, "member")
        return f"{people} share {lag}, and one of them has the mean or more"
    topics = names_text(bound.topics, many="topics")
    what = "topic" if len(bound.topics) == 1 else "topics"
    people = names_text(names, many="members")
    share = (
        "which has" if bound.members == 1 else "and one of them has the mean or more of"
    )
    return f"{what} {topics} can only go to {people}, {share} {lag}"


def _crowd(bound: LowerBound) -> str:
    if bound.partitions == 1 and bound.bound == bound.term.at_least:
        if bound.scale is not None:
            return "one partition alone has this lag, with the largest capacity"
        return "one partition alone has this lag"
    if bound.partitions == 1 and bound.scale is None:
        return (
            f"the member that holds the partition with a lag of {bound.term.at_least:,}"
            " has to hold others as well"
        )
    least = f"with a lag of {bound.term.at_least or 0:,} or more"
    which = f"all partitions {least}"
    if bound.partitions is not None:
        number = counted(bound.partitions, "partition")
        which = f"the {number} {least}"
    return (
        f"with less, the members could not hold {which} next to the others that each"
        " of them must hold"
    )


def _packing(bound: LowerBound) -> str:
    pairs = bound.term.steps or ()
    steps = ", ".join(f"{weight:,} from a lag of {least:,}" for least, weight in pairs)
    return (
        f"give each partition a weight by its lag ({steps}); one member holds its share"
        " of all weight or more, and no partitions of that weight have less lag"
    )


def _separate(_: LowerBound) -> str:
    return "the partitions add at least this, each with the member that is best for it"


def _prices(_: LowerBound) -> str:
    return (
        "prices per topic and member prove it (docs/bounds.md), and the judge has"
        " checked them"
    )


def _other_term(bound: LowerBound) -> str:
    return f"docs/bounds.md, {visible(bound.term.kind, limit=40)}"


_TERMS: Final[dict[str, Callable[[LowerBound], str]]] = {
    "average": _average,
    "crowd": _crowd,
    "topic-crowd": _crowd,
    "packing": _packing,
    "prices": _prices,
    "separate": _separate,
}

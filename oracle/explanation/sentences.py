"""The sentence of each statement; names are escaped, and long lists shortened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from itertools import groupby
from typing import Final

from oracle.explanation.bound_records import (
    Certified,
    CrowdedClaims,
    LowerBound,
    OutrankedClaims,
    TightBlock,
    Uncheckable,
)
from oracle.explanation.improvement_records import (
    BetterAssignment,
    ClaimExchange,
    Gap,
    ImprovingChain,
    PeakMember,
    Unbalanced,
    UnevenTopic,
    Violated,
)
from oracle.explanation.statement_records import Gain, Statement, TransferRecord
from oracle.names import abridged, visible
from oracle.wording import counted, ranges
from rebalance import Value

NAMES_SHOWN: Final = 4
TRANSFERS_SHOWN: Final = 4
RESTORED_SHOWN: Final = 3
NAME_SHOWN: Final = 40
LOADS_SHOWN: Final = 8
NUMBERS_SHOWN: Final = 40  # characters


def names_text(names: Sequence[str], *, many: str) -> str:
    """Format names as ``a, b and c``, or ``a, b, c and 9 other members``."""
    listed = [abridged(name, NAME_SHOWN) for name in names[:NAMES_SHOWN]]
    rest = len(names) - len(listed)
    if rest:
        return f"{', '.join(listed)} and {rest:,} other {many}"
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


def loads_list(loads: Sequence[int]) -> str:
    """Format loads as ``11, 10, 10``, many as ``11 (3 members), 10 (9 members)``."""
    if len(loads) <= LOADS_SHOWN:
        return ", ".join(f"{load:,}" for load in loads)
    runs = [(load, len(list(same))) for load, same in groupby(loads)]
    shown = [f"{load:,} ({counted(n, 'member')})" for load, n in runs[:NAMES_SHOWN]]
    if len(runs) > NAMES_SHOWN:
        shown[-1:] = ["…", f"{runs[-1][0]:,} ({counted(runs[-1][1], 'member')})"]
    return ", ".join(shown)


def value_text(value: Value, scale: int | None) -> str:
    """Format a value of an objective; in units of 1 ÷ scale as a fraction."""
    text = loads_list(value) if isinstance(value, list) else f"{value:,}"
    if scale is None:
        return text
    return f"({text}) ÷ {scale:,}" if isinstance(value, list) else f"{text} ÷ {scale:,}"


@singledispatch
def sentence_of(statement: Statement) -> str:
    """Return the sentence of a statement, as text of one or more sentences."""
    raise TypeError(type(statement).__name__)


@sentence_of.register
def _(one: Violated) -> str:
    parts = [f"Invalid: {one.rule}"]
    if one.topic is not None and one.partition is not None:
        parts.append(_spot(one.topic, one.partition))
    elif one.topic is not None:
        parts.append(f"topic {abridged(one.topic, NAME_SHOWN)}")
    if one.member is not None:
        parts.append(f"member {abridged(one.member, NAME_SHOWN)}")
    more = f" ({counted(one.count, 'violation')} of this rule)" if one.count > 1 else ""
    return ", ".join(parts) + more + "."


@sentence_of.register
def _(one: Gap) -> str:
    value, best = value_text(one.value, one.scale), value_text(one.best, one.scale)
    if one.of == "max-moves":
        return f"The move budget is exceeded: {value} moves, {best} are allowed."
    if one.of == "stickiness":
        needless = int(str(one.value)) - int(str(one.best))
        verb = "is" if needless == 1 else "are"
        return (
            f"{needless:,} of {counted(int(str(one.value)), 'move')} {verb} needless:"
            f" {best} would give the same balance."
        )
    return f"The {one.of} is {value}; the best is {best}."


@sentence_of.register
def _(one: Unbalanced) -> str:
    return (
        f"The loads {loads_list(one.loads)} are not the most even:"
        f" {counted(one.transfers, 'transfer')} in {counted(one.chains, 'chain')} lead"
        f" to {loads_list(one.best_loads)}{_gain_text(one.gain)}."
    )


@sentence_of.register
def _(one: ImprovingChain) -> str:
    length, number = len(one.transfers) // one.chains, one.chains
    giver, receiver = one.transfers[0].giver, one.transfers[-1].to
    steps = []
    for step in range(min(length, TRANSFERS_SHOWN)):
        alike = one.transfers[step::length]
        numbers = _numbers([transfer.partition for transfer in alike])
        first = alike[0]
        spots = f"{_name(first.topic)}:{numbers}"
        steps.append(f"{spots} from {_name(first.giver)} to {_name(first.to)}")
    more = length - len(steps)
    path = ", ".join(steps) + (f", and {more:,} more" if more else "")
    high, low = one.loads
    return (
        f"{path}: {_name(giver)} goes from {high:,} to"
        f" {counted(high - number, 'partition')}, {_name(receiver)} from {low:,} to"
        f" {low + number:,}{_gain_text(one.gain)}."
    )


@sentence_of.register
def _(one: UnevenTopic) -> str:
    high, low = one.loads
    return (
        f"Topic {_name(one.topic)} is not even: {_name(one.member)} holds {high:,} of"
        f" its partitions, {_name(one.to)} {low:,}. One can go from {_name(one.member)}"
        f" to {_name(one.to)}."
    )


@sentence_of.register
def _(one: ClaimExchange) -> str:
    first, *others = one.restored[:RESTORED_SHOWN]
    text = f"{_spot(first.topic, first.partition)} could have stayed with"
    text += f" {_name(first.to)}"
    for back in others:
        text += f", {_spot(back.topic, back.partition)} with {_name(back.to)}"
    more = len(one.restored) - RESTORED_SHOWN
    text += f", and {more:,} more" if more > 0 else ""
    if len(one.transfers) == 1:
        return f"{text}: the loads are as even{_gain_text(one.gain)}."
    return (
        f"{text}: after {_path(one.transfers)}, the loads are as even"
        f"{_gain_text(one.gain)}."
    )


@sentence_of.register
def _(one: PeakMember) -> str:
    before, after, other = one.lags
    largest = ", ".join(
        f"{_spot(lag.topic, lag.partition)} ({lag.lag:,})"
        for lag in one.partitions[:NAMES_SHOWN]
    )
    what = "swap" if len(one.transfers) == 2 else "transfer"
    receiver = _name(one.transfers[0].to)
    return (
        f"{_name(one.member)} has the peak lag, {counted(before, 'record')} in"
        f" {counted(one.load, 'partition')}, the largest {largest}. After the {what}"
        f" {_path(one.transfers)} it has {after:,}, and {receiver} {other:,}."
    )


@sentence_of.register
def _(one: BetterAssignment) -> str:
    listed = one.transfers[:TRANSFERS_SHOWN]
    more = one.count - len(listed)
    rest = f", and {more:,} more" if more else ""
    verb = "leads" if one.count == 1 else "lead"
    return (
        f"{counted(one.count, 'transfer')} {verb} to the best assignment:"
        f" {_path(listed)}{rest}."
    )


@sentence_of.register
def _(one: TightBlock) -> str:
    listed = names_text(one.topics, many="topics")
    what = "topic" if len(one.topics) == 1 else "topics"
    number = f"All {one.partitions:,} partitions" if one.partitions > 1 else "The one"
    number += " partition" if one.partitions == 1 else ""
    only = "" if one.above else "only "
    people = names_text(one.members, many="members")
    text = f"{number} of {what} {listed} can {only}go to {people}"
    ratio = one.capacities is not None
    if one.above:
        others = names_text(one.above, many="members")
        verb = "holds" if len(one.above) == 1 else "hold"
        more = "at least as many in any case"
        text += f", or to {others}, "
        text += (
            "whose level (load ÷ capacity) is higher"
            if ratio
            else f"which {verb} {more}"
        )
    even = f"{_block_loads(one)} is the most even"
    if not one.below:
        return f"{text}, so {even}."
    others = names_text(one.below, many="topics")
    fewer = "whose level is lower" if ratio else "with fewer partitions"
    which = "other topic" if len(one.below) == 1 else "other topics"
    verb = "goes" if len(one.below) == 1 else "go"
    return (
        f"{text}. The {which} of these members, {others}, {verb} to members {fewer}."
        f" So {even}."
    )


def _block_loads(one: TightBlock) -> str:
    if one.capacities is None:
        return loads_list(one.loads)
    pairs = list(zip(one.loads, one.capacities, strict=True))
    listed = [f"{load:,} (capacity {w:,})" for load, w in pairs[:NAMES_SHOWN]]
    more = len(pairs) - len(listed)
    return ", ".join(listed) + (f" and {more:,} more" if more else "")


@sentence_of.register
def _(one: CrowdedClaims) -> str:
    people = names_text(one.members, many="members")
    own = "owns" if len(one.members) == 1 else "own"
    text = (
        f"{people} {own} {counted(one.claims, 'partition')} that balance would let"
        f" {'it' if len(one.members) == 1 else 'them'} keep, but can hold at most"
        f" {one.room:,}"
    )
    text += "" if len(one.members) == 1 else " together"
    if one.others:
        text += f", of which {one.others:,} must be others that nobody else can hold"
    verb = "has" if one.leaving == 1 else "have"
    return f"{text}: at least {one.leaving:,} {verb} to go to other members."


@sentence_of.register
def _(one: OutrankedClaims) -> str:
    to = names_text(one.to, many="members")
    verb = "holds" if len(one.to) == 1 else "hold"
    number = len(one.partitions)
    numbers = _numbers(one.partitions)
    return (
        f"{_name(one.member)} cannot keep {_name(one.topic)}:{numbers}"
        f" ({counted(number, 'partition')}): balance requires that the topic goes to"
        f" {to}, {'whose level is lower' if one.by_capacity else f'which {verb} less'}."
    )


@sentence_of.register
def _(one: LowerBound) -> str:
    bound = value_text(one.bound, one.scale)
    why = _TERMS.get(one.term.kind, _other_term)(one)
    return f"No allowed assignment has a {one.of} below {bound}: {why}."


@sentence_of.register
def _(one: Uncheckable) -> str:
    bound = value_text(one.bound, one.scale)
    others = f" with the best {' and '.join(one.after)}" if one.after else ""
    return (
        f"That no allowed assignment{others} has a {one.of} below {bound} is the report"
        f" of a search ({visible(one.engine, limit=60)}), which cannot be checked."
    )


@sentence_of.register
def _(one: Certified) -> str:
    if one.of == "stickiness":
        moves = counted(int(str(one.bound)), "move")
        what = f"No assignment that is as balanced has fewer than {moves}"
    else:
        bound = value_text(one.bound, one.scale)
        what = f"No allowed assignment has a {one.of} below {bound}"
    return f"{what}: the certificate proves it, and the judge has checked it."


def _average(one: LowerBound) -> str:
    names = one.term.members
    if one.topics is None or one.lag is None or one.members is None:
        if names is None:
            return "this is the mean over all members, rounded up"
        return (
            f"some partitions can only go to {names_text(names, many='members')}, and"
            " this is the mean of their lag over these members, rounded up"
        )
    lag = counted(one.lag, "record")
    if names is None:
        people = counted(one.members, "member")
        return f"{people} share {lag}, and one of them has the mean or more"
    topics = names_text(one.topics, many="topics")
    what = "topic" if len(one.topics) == 1 else "topics"
    people = names_text(names, many="members")
    share = (
        "which has" if one.members == 1 else "and one of them has the mean or more of"
    )
    return f"{what} {topics} can only go to {people}, {share} {lag}"


def _crowd(one: LowerBound) -> str:
    if one.partitions == 1 and one.bound == one.term.at_least:
        return "one partition alone has this lag"
    if one.partitions == 1:
        return (
            f"the member that holds the partition with a lag of {one.term.at_least:,}"
            " has to hold others as well"
        )
    least = f"with a lag of {one.term.at_least or 0:,} or more"
    which = f"all partitions {least}"
    if one.partitions is not None:
        number = counted(one.partitions, "partition")
        which = f"the {number} {least}"
    return (
        f"with less, the members could not hold {which} next to the others that each"
        " of them must hold"
    )


def _packing(one: LowerBound) -> str:
    pairs = one.term.steps or ()
    steps = ", ".join(f"{weight:,} from a lag of {least:,}" for least, weight in pairs)
    return (
        f"give each partition a weight by its lag ({steps}); one member holds its share"
        " of all weight or more, and no partitions of that weight have less lag"
    )


def _other_term(one: LowerBound) -> str:
    return f"docs/bounds.md, {visible(one.term.kind, limit=40)}"


_TERMS: Final[dict[str, Callable[[LowerBound], str]]] = {
    "average": _average,
    "crowd": _crowd,
    "topic-crowd": _crowd,
    "packing": _packing,
}


def _gain_text(gain: Gain) -> str:
    parts = []
    if gain.kip54_score:
        less = "less" if gain.kip54_score > 0 else "more"
        parts.append(f"a balance score {less} by {abs(gain.kip54_score):,}")
    if gain.moves:
        less = "fewer" if gain.moves > 0 else "more"
        moves = "move" if abs(gain.moves) == 1 else "moves"
        parts.append(f"{abs(gain.moves):,} {less} {moves}")
    return f", with {' and '.join(parts)}" if parts else ""


def _path(transfers: Sequence[TransferRecord]) -> str:
    """Format transfers as ``t:0 from a to b, u:1 from b to c``."""
    listed = [
        f"{_spot(one.topic, one.partition)} from {_name(one.giver)} to {_name(one.to)}"
        for one in transfers[:TRANSFERS_SHOWN]
    ]
    more = len(transfers) - len(listed)
    return ", ".join(listed) + (f", and {more:,} more" if more else "")


def _numbers(partitions: Sequence[int]) -> str:
    """Format partition numbers as ``0-3, 7``, cut where they are many."""
    text = ranges(partitions)
    return text if len(text) <= NUMBERS_SHOWN else f"{text[:NUMBERS_SHOWN]}…"


def _spot(topic: str, number: int) -> str:
    return f"{_name(topic)}:{number}"


def _name(name: str) -> str:
    return abridged(name, NAME_SHOWN)

"""Sentences of statements that an assignment is not the best one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oracle.explanation.improvement_records import (
    BetterAssignment,
    ClaimExchange,
    Gap,
    ImprovingChain,
    MovesGivenBack,
    PeakMember,
    Unbalanced,
    UnevenTopic,
    Violated,
)
from oracle.explanation.phrases import (
    NAME_SHOWN,
    NAMES_SHOWN,
    TRANSFERS_SHOWN,
    gain_text,
    loads_list,
    name_text,
    names_text,
    numbers_text,
    path_text,
    scope_text,
    spot_text,
    value_text,
)
from oracle.explanation.statement_records import ClaimRecord
from oracle.names import abridged
from oracle.wording import counted

RESTORED_SHOWN: Final = 3


def violated_text(one: Violated) -> str:
    """Return the sentence of a `Violated`."""
    parts = [f"Invalid: {one.rule}"]
    if one.topic is not None and one.partition is not None:
        parts.append(spot_text(one.topic, one.partition))
    elif one.topic is not None:
        parts.append(f"topic {abridged(one.topic, NAME_SHOWN)}")
    if one.member is not None:
        parts.append(f"member {abridged(one.member, NAME_SHOWN)}")
    more = ""
    if one.count > 1:
        more = f" ({counted(one.count, 'violation')} of this rule"
        if one.partitions not in {0, one.count}:
            more += f", on {counted(one.partitions, 'partition')}"
            more += " or more" if one.has_more else ""
        more += ")"
    rule = ", ".join(parts) + more + "."
    return " ".join([rule, *_violation_parts(one)])


def _violation_parts(one: Violated) -> Iterator[str]:
    """Yield the cause, what follows, and the finding of a violation."""
    if one.topic is not None and one.partition is not None:
        spot = spot_text(one.topic, one.partition)
        if one.claims:
            claims = [_claim_text(claim) for claim in one.claims[:NAMES_SHOWN]]
            more = len(one.claims) - len(claims)
            rest = f", and {more:,} more" if more else ""
            yield f"Claims on {spot}: {', '.join(claims)}{rest}."
        else:
            yield f"No member claims {spot}."
    yield _effect(one)
    if one.finding is not None:
        yield f"This is the pattern of docs/findings/{one.finding}.md."


def _claim_text(claim: ClaimRecord) -> str:
    which = "no generation"
    if claim.generation >= 0:
        which = f"generation {claim.generation:,}"
    return f"{name_text(claim.member)} ({which})"


def _effect(one: Violated) -> str:
    """Return what follows for the readers of the partition."""
    if one.rule == "assigned-twice":
        return _read_twice(one)
    if one.rule == "unsubscribed":
        text = f"{name_text(one.member or '')} does not subscribe to the topic"
        if not one.readers:
            return f"{text}, so no member reads it."
        return f"{text}; {names_text(one.readers, many='members')} reads it."
    return _EFFECTS.get(one.rule, "The assignment cannot be used as it is.")


def _read_twice(one: Violated) -> str:
    if len(one.readers) > 1:
        people = names_text(one.readers, many="members")
        return f"{people} read it at the same time: its records are processed twice."
    if len(one.holders) < 2:
        return "It is listed more than once for one member."
    if not one.readers:
        return "None of its holders subscribes to the topic, so no member reads it."
    return f"Of its holders, only {name_text(one.readers[0])} subscribes, and reads it."


_EFFECTS: Final = {
    "missing-member": "The assignment has no entry for it, not even an empty one.",
    "unassigned": "No member reads it: its records wait until another rebalance.",
    "unknown-member": "It is not in the group, so nobody reads what it is assigned.",
    "unknown-partition": "The partition does not exist: there is nothing to read.",
}


def gap_text(one: Gap) -> str:
    """Return the sentence of a `Gap`."""
    value, best = value_text(one.value, one.scale), value_text(one.best, one.scale)
    if one.of == "max-moves":
        return f"The move budget is exceeded: {value} moves, {best} are allowed."
    if one.of == "stickiness":
        needless = int(str(one.value)) - int(str(one.best))
        verb = "is" if needless == 1 else "are"
        enough = f"an allowed assignment{scope_text(one.after)} has {best}"
        if one.same_balance and not one.after:
            enough = f"{best} would give the same balance"
        return (
            f"{needless:,} of {counted(int(str(one.value)), 'move')} {verb} needless:"
            f" {enough}."
        )
    scope = f" of an allowed assignment{scope_text(one.after)}" if one.after else ""
    found = "" if one.is_least else " found"
    return f"The {one.of} is {value}; the best{found}{scope} is {best}."


def unbalanced_text(one: Unbalanced) -> str:
    """Return the sentence of a `Unbalanced`."""
    return (
        f"The loads {loads_list(one.loads)} are not the most even:"
        f" {counted(one.transfers, 'transfer')} in {counted(one.chains, 'chain')}"
        f" {'leads' if one.transfers == 1 else 'lead'} to {loads_list(one.best_loads)}"
        f"{gain_text(one.gain)}."
    )


def improving_chain_text(one: ImprovingChain) -> str:
    """Return the sentence of a `ImprovingChain`."""
    length, number = len(one.transfers) // one.chains, one.chains
    giver, receiver = one.transfers[0].giver, one.transfers[-1].to
    steps = []
    for step in range(min(length, TRANSFERS_SHOWN)):
        alike = one.transfers[step::length]
        numbers = numbers_text([transfer.partition for transfer in alike])
        first = alike[0]
        spots = f"{name_text(first.topic)}:{numbers}"
        steps.append(f"{spots} from {name_text(first.giver)} to {name_text(first.to)}")
    more = length - len(steps)
    path = ", ".join(steps) + (f", and {more:,} more" if more else "")
    high, low = one.loads
    return (
        f"{path}: {name_text(giver)} goes from {high:,} to"
        f" {counted(high - number, 'partition')}, {name_text(receiver)} from {low:,} to"
        f" {low + number:,}{gain_text(one.gain)}."
    )


def uneven_topic_text(one: UnevenTopic) -> str:
    """Return the sentence of a `UnevenTopic`."""
    high, low = one.loads
    giver, receiver = name_text(one.member), name_text(one.to)
    return (
        f"Topic {name_text(one.topic)} is not even: {giver} holds {high:,} of its"
        f" partitions, {receiver} {low:,}. One can go from {giver} to {receiver}."
    )


def claim_exchange_text(one: ClaimExchange) -> str:
    """Return the sentence of a `ClaimExchange`."""
    first, *others = one.restored[:RESTORED_SHOWN]
    text = f"{spot_text(first.topic, first.partition)} could have stayed with"
    text += f" {name_text(first.to)}"
    for back in others:
        text += f", {spot_text(back.topic, back.partition)} with {name_text(back.to)}"
    more = len(one.restored) - RESTORED_SHOWN
    text += f", and {more:,} more" if more > 0 else ""
    if len(one.transfers) == 1:
        return f"{text}: the loads are as even{gain_text(one.gain)}."
    return (
        f"{text}: after {path_text(one.transfers)}, the loads are as even"
        f"{gain_text(one.gain)}."
    )


def moves_given_back_text(one: MovesGivenBack) -> str:
    """Return the sentence of a `MovesGivenBack`."""
    listed = [
        f"{spot_text(back.topic, back.partition)} to {name_text(back.to)}"
        for back in one.returned[:TRANSFERS_SHOWN]
    ]
    more = len(one.returned) - len(listed)
    text = f"Give back {', '.join(listed)}" + (f", and {more:,} more" if more else "")
    others = one.count - len(one.returned)
    if others:
        verb = "is" if others == 1 else "are"
        text += f", which with {counted(others, 'other transfer')} {verb} allowed"
    return (
        f"{text}: {counted(one.moves[1], 'move')} then, and the balance is met"
        f" ({one.budget:,} allowed)."
    )


def peak_member_text(one: PeakMember) -> str:
    """Return the sentence of a `PeakMember`."""
    before, after, other = one.lags
    largest = ", ".join(
        f"{spot_text(lag.topic, lag.partition)} ({lag.lag:,})"
        for lag in one.partitions[:NAMES_SHOWN]
    )
    what = "swap" if len(one.transfers) == 2 else "transfer"
    receiver = name_text(one.transfers[0].to)
    return (
        f"{name_text(one.member)} has the peak lag, {counted(before, 'record')} in"
        f" {counted(one.load, 'partition')}, the largest {largest}. After the {what}"
        f" {path_text(one.transfers)} it has {after:,}, and {receiver} {other:,}."
    )


def better_assignment_text(one: BetterAssignment) -> str:
    """Return the sentence of a `BetterAssignment`."""
    listed = one.transfers[:TRANSFERS_SHOWN]
    more = one.count - len(listed)
    rest = f", and {more:,} more" if more else ""
    verb = "leads" if one.count == 1 else "lead"
    return (
        f"{counted(one.count, 'transfer')} {verb} to the best assignment:"
        f" {path_text(listed)}{rest}."
    )

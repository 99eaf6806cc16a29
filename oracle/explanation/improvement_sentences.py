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
    first_text,
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
from oracle.explanation.sentences import sentence_of
from oracle.explanation.statement_records import ClaimRecord
from oracle.names import abridged
from oracle.wording import counted

RESTORED_SHOWN: Final = 3
STAYED: Final = " could have stayed with"


@sentence_of.register
def _violated_text(violated: Violated) -> str:
    parts = [f"Invalid: {violated.rule}"]
    if violated.topic is not None and violated.partition is not None:
        parts.append(spot_text(violated.topic, violated.partition))
    elif violated.topic is not None:
        parts.append(f"topic {abridged(violated.topic, NAME_SHOWN)}")
    if violated.member is not None:
        parts.append(f"member {abridged(violated.member, NAME_SHOWN)}")
    more = ""
    if violated.count > 1:
        more = f" ({counted(violated.count, 'violation')} of this rule"
        if violated.partitions not in {0, violated.count}:
            more += f", on {counted(violated.partitions, 'partition')}"
            more += " or more" if violated.has_more else ""
        more += ")"
    rule = ", ".join(parts) + more + "."
    return " ".join([rule, *_violation_parts(violated)])


def _violation_parts(violated: Violated) -> Iterator[str]:
    """Yield the cause, the consequence, and the finding of a violation."""
    if violated.topic is not None and violated.partition is not None:
        spot = spot_text(violated.topic, violated.partition)
        if violated.claims:
            claims = [_claim_text(claim) for claim in violated.claims[:NAMES_SHOWN]]
            yield f"Claims on {spot}: {first_text(claims, len(violated.claims))}."
        else:
            yield f"No member claims {spot}."
    yield _effect(violated)
    if violated.finding is not None:
        yield f"This is the pattern of docs/findings/{violated.finding}.md."


def _claim_text(claim: ClaimRecord) -> str:
    which = "no generation"
    if claim.generation >= 0:
        which = f"generation {claim.generation:,}"
    return f"{name_text(claim.member)} ({which})"


def _effect(violated: Violated) -> str:
    """Return the consequence for the readers of the partition."""
    if violated.rule == "assigned-twice":
        return _read_twice(violated)
    if violated.rule == "unsubscribed":
        text = f"{name_text(violated.member or '')} does not subscribe to the topic"
        if not violated.readers:
            return f"{text}, so no member reads it."
        return f"{text}; {names_text(violated.readers, many='members')} reads it."
    return _EFFECTS.get(violated.rule, "The assignment cannot be used as it is.")


def _read_twice(violated: Violated) -> str:
    if len(violated.readers) > 1:
        people = names_text(violated.readers, many="members")
        return f"{people} read it at the same time: its records are processed twice."
    if len(violated.holders) < 2:
        return "It is listed more than once for one member."
    if not violated.readers:
        return "Not one of its holders subscribes to the topic, so no member reads it."
    reader = name_text(violated.readers[0])
    return f"Of its holders, only {reader} subscribes, and reads it."


_EFFECTS: Final = {
    "missing-member": "The assignment has no entry for it, not even an empty one.",
    "unassigned": "No member reads it: its records wait until another rebalance.",
    "unknown-member": "It is not in the group, so nobody reads its partitions.",
    "unknown-partition": "The partition does not exist: there is nothing to read.",
}


@sentence_of.register
def _gap_text(gap: Gap) -> str:
    value, best = value_text(gap.value, gap.scale), value_text(gap.best, gap.scale)
    if gap.of == "max-moves":
        return f"The move budget is exceeded: {value} moves, {best} are allowed."
    if gap.of == "stickiness":
        needless = int(str(gap.value)) - int(str(gap.best))
        verb = "is" if needless == 1 else "are"
        enough = f"an allowed assignment{scope_text(gap.after)} has {best}"
        if gap.same_balance and not gap.after:
            enough = f"{best} would give the same balance"
        return (
            f"{needless:,} of {counted(int(str(gap.value)), 'move')} {verb} needless:"
            f" {enough}."
        )
    scope = f" of an allowed assignment{scope_text(gap.after)}" if gap.after else ""
    found = "" if gap.is_least else " found"
    return f"The {gap.of} is {value}; the best{found}{scope} is {best}."


@sentence_of.register
def _unbalanced_text(unbalanced: Unbalanced) -> str:
    return (
        f"The loads {loads_list(unbalanced.loads)} are not the most even:"
        f" {counted(unbalanced.transfers, 'transfer')} in"
        f" {counted(unbalanced.chains, 'chain')}"
        f" {'leads' if unbalanced.transfers == 1 else 'lead'} to"
        f" {loads_list(unbalanced.best_loads)}{gain_text(unbalanced.gain)}."
    )


@sentence_of.register
def _improving_chain_text(chain: ImprovingChain) -> str:
    length, number = len(chain.transfers) // chain.chains, chain.chains
    giver, receiver = chain.transfers[0].giver, chain.transfers[-1].to
    steps = []
    for step in range(min(length, TRANSFERS_SHOWN)):
        alike = chain.transfers[step::length]
        numbers = numbers_text([transfer.partition for transfer in alike])
        first = alike[0]
        spots = f"{name_text(first.topic)}:{numbers}"
        steps.append(f"{spots} from {name_text(first.giver)} to {name_text(first.to)}")
    high, low = chain.loads
    return (
        f"{first_text(steps, length)}: {name_text(giver)} goes from {high:,} to"
        f" {counted(high - number, 'partition')}, {name_text(receiver)} from {low:,} to"
        f" {low + number:,}{gain_text(chain.gain)}."
    )


@sentence_of.register
def _uneven_topic_text(topic: UnevenTopic) -> str:
    high, low = topic.loads
    giver, receiver = name_text(topic.member), name_text(topic.to)
    return (
        f"Topic {name_text(topic.topic)} is not even: {giver} holds {high:,} of its"
        f" partitions, {receiver} {low:,}. One can go from {giver} to {receiver}."
    )


@sentence_of.register
def _claim_exchange_text(exchange: ClaimExchange) -> str:
    kept = [
        f"{spot_text(back.topic, back.partition)}{' with' if place else STAYED}"
        f" {name_text(back.to)}"
        for place, back in enumerate(exchange.restored[:RESTORED_SHOWN])
    ]
    text = first_text(kept, len(exchange.restored))
    if len(exchange.transfers) == 1:
        return f"{text}: the balance is the same{gain_text(exchange.gain)}."
    return (
        f"{text}: after {path_text(exchange.transfers)}, the balance is the same"
        f"{gain_text(exchange.gain)}."
    )


@sentence_of.register
def _moves_given_back_text(given_back: MovesGivenBack) -> str:
    listed = [
        f"{spot_text(back.topic, back.partition)} to {name_text(back.to)}"
        for back in given_back.returned[:TRANSFERS_SHOWN]
    ]
    text = f"Give back {first_text(listed, len(given_back.returned))}"
    others = given_back.count - len(given_back.returned)
    if others:
        verb = "is" if others == 1 else "are"
        text += f", which with {counted(others, 'other transfer')} {verb} allowed"
    return (
        f"{text}: {counted(given_back.moves[1], 'move')} then, and the balance is met"
        f" ({given_back.budget:,} allowed)."
    )


@sentence_of.register
def _peak_member_text(member: PeakMember) -> str:
    before, after, other = member.lags
    largest = ", ".join(
        f"{spot_text(lag.topic, lag.partition)} ({lag.lag:,})"
        for lag in member.partitions[:NAMES_SHOWN]
    )
    what = "swap" if len(member.transfers) == 2 else "transfer"
    receiver = name_text(member.transfers[0].to)
    return (
        f"{name_text(member.member)} has the peak lag, {counted(before, 'record')} in"
        f" {counted(member.load, 'partition')}, the largest {largest}. After the {what}"
        f" {path_text(member.transfers)} it has {after:,}, and {receiver} {other:,}."
    )


@sentence_of.register
def _better_assignment_text(assignment: BetterAssignment) -> str:
    verb = "leads" if assignment.count == 1 else "lead"
    return (
        f"{counted(assignment.count, 'transfer')} {verb} to the best assignment:"
        f" {path_text(assignment.transfers, assignment.count)}."
    )

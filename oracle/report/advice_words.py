"""Wording of advice: a line for the table of groups, and blocks that open below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from oracle.names import visible
from oracle.report.advice import (
    ENOUGH_JUDGED,
    LEAST_SAVED,
    Advice,
    AdviceKind,
    Ground,
)
from oracle.report.client_settings import CLIENTS, SettingChange, Step
from oracle.report.group_clients import CLIENT_ID, ClientEvidence
from oracle.report.harm import seconds_text
from oracle.report.known_faults import InvalidAnswer, KnownFault
from oracle.wording import counted

_PAGE: Final = "The finding, in this project's repository"
_UNKNOWN: Final = "The records do not tell the client. All that have both assignors:"
_RATE: Final = "partitions per rebalance"
_FAMILIES: Final = {"sticky": "(cooperative-)sticky"}
_NAME_KEPT: Final = 40
_TOPICS: Final = 3
"""Names of topics in a line."""
FORMER: Final = "used before; the group's last assignor has a row of its own"
_NO_SETTING: Final = {
    Ground.COOPERATIVE: "cooperative groups are not compared with other assignors",
    Ground.FEW: f"a comparison of assignors takes {ENOUGH_JUDGED} judged rebalances",
    Ground.NONE_BETTER: "none of Kafka's other assignors does better",
}
_NOT_JUDGED: Final = {
    Ground.UNFINISHED: "its cooperative rebalances were unfinished as the source ended",
    Ground.NO_PROOF: "no optimum is proved",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsBlock:
    """A titled list of instructions, each with the text to copy, and a note."""

    title: str
    steps: tuple[Step, ...] = ()
    note: str = ""


def line_of(advised: Sequence[Advice]) -> str:
    """Return all advice for a group in one line."""
    return "; ".join(_WORDS[advice.kind](advice) for advice in advised)


def blocks_of(advised: Sequence[Advice]) -> tuple[SettingsBlock, ...]:
    """Return the settings to copy, and the findings, below that line."""
    return tuple(block for advice in advised for block in _blocks(advice))


def _blocks(advice: Advice) -> Iterator[SettingsBlock]:
    if advice.kind is AdviceKind.FINDING and advice.answer is not None:
        yield from map(_of_fault, advice.answer.faults)
    if advice.changes:
        yield SettingsBlock(title=_evidence(advice.clients))
        yield from map(_of_change, advice.changes)


def _of_change(change: SettingChange) -> SettingsBlock:
    return SettingsBlock(
        title=f"{change.title}: {change.assignor}", steps=change.steps, note=change.note
    )


def _of_fault(fault: KnownFault) -> SettingsBlock:
    free = [f"{client} is free of it from {version}" for client, version in fault.fixed]
    unknown = "No version that is free of it is known"
    return SettingsBlock(
        title=f"{fault.title} ({', '.join(fault.clients)})",
        steps=(Step(says=_PAGE, setting=fault.page),),
        note=f"{'; '.join(free) or unknown}.",
    )


def _evidence(clients: ClientEvidence) -> str:
    if not clients.clients:
        return _UNKNOWN
    names = _clients(clients)
    if clients.basis != CLIENT_ID:
        return f"The group's assignor exists only in {names}:"
    ids = ", ".join(visible(text, limit=_NAME_KEPT) for text in clients.ids)
    return (
        f"{clients.alike} of {counted(clients.members, 'client id')} look like those of"
        f" {names} ({ids}):"
    )


def _clients(clients: ClientEvidence) -> str:
    names = [CLIENTS[name].short or name for name in clients.clients]
    return _and(names)


def _reassign(advice: Advice) -> str:
    rules = f" ({', '.join(advice.answer.rules)})" if advice.answer else ""
    return (
        f"its last assignment is invalid{rules}: restart a member, so that the group"
        " assigns anew"
    )


def _finding(advice: Advice) -> str:
    answer = advice.answer
    if answer is None:
        raise ValueError("a finding without an answer")
    first, *others = answer.faults
    fixed = dict(first.fixed)
    names = [
        f"{name} before {fixed[name]}" if name in fixed else name
        for name in first.clients
    ]
    known = bool(advice.clients.clients)
    of = f" ({', '.join(names)})" if known else f", if its client is {_or(names)}"
    more = f", or by {counted(len(others), 'other')}" if others else ""
    finding = f"the finding {first.finding}{of}{more}"
    return f"{_generation(answer)} may be explained by {finding}"


def _left_out(advice: Advice) -> str:
    answer = advice.answer
    if answer is None:
        raise ValueError("topics without their answer")
    shown = [visible(name, limit=_NAME_KEPT) for name in answer.left_out[:_TOPICS]]
    if more := len(answer.left_out) - len(shown):
        shown.append(counted(more, "other topic"))
    known = answer.lasted_ms is not None
    lasted = f" for {seconds_text(answer.lasted_ms or 0)} s" if known else ""
    return (
        f"{_generation(answer)} left {_and(shown)} without a reader{lasted}; its leader"
        " may not have known all partition counts yet"
    )


def _and(names: Sequence[str]) -> str:
    return _listed(names, "and")


def _or(names: Sequence[str]) -> str:
    return _listed(names, "or")


def _listed(names: Sequence[str], word: str) -> str:
    """Return the names as a list in words: ``a, b and c``."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _generation(answer: InvalidAnswer) -> str:
    if answer.generation is None:
        return "an invalid answer"
    return f"the invalid answer of generation {answer.generation}"


def _assignor(advice: Advice) -> str:
    number = counted(advice.transfers, "transfer")
    balanced = f"; it would have balanced the last assignment (at least {number})"
    return (
        f"use {_shown(advice)}: {_rates(advice)}{balanced if advice.transfers else ''}"
        f"{_known(advice.clients)}"
    )


def _balance(advice: Advice) -> str:
    return (
        f"{_last(advice)}: {_shown(advice)} would have balanced it"
        f"{_known(advice.clients)}"
    )


def _no_setting(advice: Advice) -> str:
    last = f"{_last(advice)}; " if advice.transfers else ""
    if advice.reason is Ground.CLIENT_LACKS:
        several = len(advice.clients.clients) > 1
        lacks = "do not all have it" if several else "does not have it"
        return (
            f"{last}{_shown(advice)} would do better, {_rates(advice)}, but"
            f" {_clients(advice.clients)} {lacks}{_known(advice.clients)}"
        )
    off = f"{_rate(advice)} {_RATE} off the optimum"
    return f"{last}{off}: {_NO_SETTING[advice.reason or Ground.NONE_BETTER]}"


def _members(advice: Advice) -> str:
    of = advice.members
    if of is None:
        raise ValueError("advice on members without their number")
    return (
        f"{of.idle:,} of {of.members:,} members cannot have a partition:"
        f" {counted(of.partitions, 'member')} suffice{'s' * (of.partitions == 1)}"
    )


def _shown(advice: Advice) -> str:
    """Return the name of the assignor in its clients, or of the family."""
    names = {change.assignor for change in advice.changes}
    if advice.clients.clients and len(names) == 1:
        return names.pop()
    name = advice.assignor or ""
    return _FAMILIES.get(name, name)


def _rates(advice: Advice) -> str:
    if advice.gain is None:
        raise ValueError("a comparison without numbers")
    return f"{advice.gain.now:,.1f} → {advice.gain.then:,.1f} {_RATE}"


def _rate(advice: Advice) -> str:
    rate = advice.gain.now if advice.gain else 0.0
    return f"{rate:,.1f}" if rate >= LEAST_SAVED else "under 0.1"


def _last(advice: Advice) -> str:
    number = counted(advice.transfers, "transfer")
    return f"its last assignment is at least {number} from balance"


def _known(clients: ClientEvidence) -> str:
    if not clients.clients:
        return ""
    if clients.basis == CLIENT_ID:
        return f" (client ids look like those of {_clients(clients)})"
    return f" (only {_clients(clients)} has its assignor)"


_WORDS: Final[dict[AdviceKind, Callable[[Advice], str]]] = {
    AdviceKind.REASSIGN: _reassign,
    AdviceKind.FINDING: _finding,
    AdviceKind.LEFT_OUT: _left_out,
    AdviceKind.ASSIGNOR: _assignor,
    AdviceKind.BALANCE: _balance,
    AdviceKind.NO_SETTING: _no_setting,
    AdviceKind.MEMBERS: _members,
    AdviceKind.NOTHING: lambda _: "nothing to gain",
    AdviceKind.NOT_JUDGED: lambda advice: (
        f"not judged: {_NOT_JUDGED[advice.reason or Ground.NO_PROOF]}"
    ),
    AdviceKind.FORMER: lambda _: FORMER,
}

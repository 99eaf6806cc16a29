"""A plan as tables and lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from oracle.cli.printing.answer_tables import NAME_SHOWN, name_of, transfer_table
from oracle.cli.printing.parts import Cell, Part, Sheet, TextLine, sheet_of
from oracle.names import abridged, visible
from oracle.planning.change_records import (
    AddPartitions,
    Change,
    Join,
    Leave,
    SetLag,
    Subscribe,
)
from oracle.planning.plan_records import (
    MembersNeeded,
    Outcome,
    PlanDocument,
    PlannedAnswer,
    RankedAssignor,
    Ranking,
    Transition,
)
from oracle.wording import counted, loads_text

CHANGES_SHOWN = 10
_REASON_SHOWN = 400
_SUMS = {
    "sum": "the total, divided by the members",
    "dec-min": "the judge finds no chain that improves the most even loads",
    "certificate": "certificate, checked by the judge",
    "terms": "terms, recomputed by the judge",
    "search": "the report of a search, which was not checked",
}


def plan_parts(plan: PlanDocument) -> Iterator[Part]:
    """Yield the title, the changes, and the answers."""
    title = name_of({"group": plan.group, "id": plan.id})
    policy = "" if plan.policy is None else f" · {plan.policy}"
    yield TextLine(f"{title}{policy}", bold=True)
    for change in plan.changes[:CHANGES_SHOWN]:
        yield TextLine(f"change: {change_text(change)}")
    if len(plan.changes) > CHANGES_SHOWN:
        yield TextLine(
            f"… and {counted(len(plan.changes) - CHANGES_SHOWN, 'change')} more"
        )
    if plan.outcome is not None:
        yield from _outcome_parts(plan.outcome, plan.round_ms or 0)
    if plan.members_needed is not None:
        yield from _needed_parts(plan.members_needed)
    if plan.ranking is not None:
        yield from _ranking_parts(plan.ranking)


def change_text(change: Change) -> str:
    """Return a change in words."""
    if isinstance(change, Join):
        return f"{_name(change.member)} joins, for {_topics(change.subscription)}"
    if isinstance(change, Leave):
        return f"{_name(change.member)} leaves"
    if isinstance(change, Subscribe):
        topics = _topics(change.subscription)
        return f"{_name(change.member)} subscribes to {topics}"
    if isinstance(change, AddPartitions):
        return f"{_name(change.topic)} has {counted(change.partitions, 'partition')}"
    return _lag_text(change)


def _lag_text(change: SetLag) -> str:
    place = _name(change.topic)
    place += "" if change.partition is None else f":{change.partition}"
    if change.lag is None:
        return f"the lag of {place} is multiplied by {change.times:,}"
    each = " of each partition" if change.partition is None else ""
    return f"the lag{each} of {place} is {change.lag:,}"


def _outcome_parts(outcome: Outcome, round_ms: int) -> Iterator[Part]:
    best = outcome.answers[0]
    yield TextLine(_summary(outcome, best, round_ms))
    if best.reason is not None:
        yield TextLine(f"reason: {visible(best.reason, limit=_REASON_SHOWN)}")
    if transfers := outcome.transfers:
        yield transfer_table(
            "Transfers of the best assignment",
            [
                (transfer.giver, transfer.to, transfer.lag, transfer.partitions)
                for transfer in transfers
            ],
            leaving=[transfer.giver or "" for transfer in transfers if transfer.leaves],
        )
    columns = ["assignor", "moves", "loads", "policy met", "peak lag"]
    columns += ["rounds", "no owner", "partition-s"]
    if not outcome.lag_known:
        columns.remove("peak lag")
    rows = [
        _answer_row(answer, lag_known=outcome.lag_known)
        for answer in outcome.answers
        if answer.figures is not None
    ]
    title = "After the change"
    if outcome.lag_known:  # no room in the header of a narrow column
        title += " · lag in records"
    yield Sheet(title, columns, rows)
    for answer in outcome.answers:
        if answer.refused is not None:
            yield TextLine(
                f"{answer.assignor} does not apply: {visible(answer.refused)}"
            )
    yield TextLine(
        f"assumed: {round_ms / 1000:g} s per round; members that leave say so; all "
        "members join each round"
    )


def _summary(outcome: Outcome, best: PlannedAnswer, round_ms: int) -> str:
    if best.figures is None:
        return f"the optimum is {best.status}"
    moves = counted(best.figures.moves or 0, "move")
    members = counted(outcome.members, "member")
    partitions = counted(outcome.partitions, "partition")
    parts = [
        f"the best assignment ({best.status}) of {partitions} to {members}: {moves}"
    ]
    steps = best.transition
    if steps is not None and steps.rounds is not None:
        parts.append(counted(steps.rounds, "round"))
        parts.append(_unowned_text(steps, round_ms))
    return ", ".join(parts)


def _unowned_text(steps: Transition, round_ms: int) -> str:
    if not steps.unowned_partitions:
        return "no partition without an owner"
    number = counted(steps.unowned_partitions, "partition")
    return f"{number} without an owner for {round_ms / 1000:g} s"


def _answer_row(answer: PlannedAnswer, *, lag_known: bool) -> tuple[Cell, ...]:
    figures, steps = answer.figures, answer.transition
    if figures is None or steps is None:
        raise ValueError(f"no assignment: {answer.assignor}")
    return (
        answer.assignor,
        figures.moves,
        loads_text(figures.loads),
        answer.balance_met and answer.budget_met,
        *([figures.peak_lag] if lag_known else []),
        _rounds_text(steps),
        steps.unowned_partitions,
        f"{steps.unowned_partition_ms / 1000:,g}",
    )


def _rounds_text(steps: Transition) -> str:
    if steps.rounds is None:
        return "none (KIP-848)"
    return f"{steps.rounds} eager" if steps.mode == "eager" else str(steps.rounds)


def _needed_parts(needed: MembersNeeded) -> Iterator[Part]:
    unit = "records" if needed.of == "peak-lag" else "partitions"
    limit = f"{needed.of} at most {needed.at_most:,} {unit}, balance {needed.balance}"
    if needed.members is None:
        yield TextLine(f"{limit}: no number of members ({needed.status})")
    else:
        yield TextLine(
            f"{limit}: {counted(needed.members, 'member')} ({needed.status}), now "
            f"{needed.present:,}; then {needed.of} {needed.value:,}"
        )
    if needed.reason is not None:
        yield TextLine(f"reason: {visible(needed.reason, limit=_REASON_SHOWN)}")
    if needed.at_least is not None:
        yield TextLine(f"not decided: whether {needed.at_least:,} suffice")
    for refuted in needed.refuted:
        many = f"{refuted.members:,}" + (
            "" if refuted.up_to is None else f" to {refuted.up_to:,}"
        )
        yield TextLine(
            f"{many} do not suffice: at least {refuted.bound:,}"
            f" ({_SUMS[refuted.rests_on]})"
        )


def _ranking_parts(ranking: Ranking) -> Iterator[Part]:
    used = ", ".join(_name(name) for name in ranking.used)
    listed = [ranking.actual, ranking.optimum, *ranking.assignors]
    names = {"actual": f"actual ({used})" if used else "actual"}
    columns: dict[str, Callable[[RankedAssignor], Cell]] = {
        "assignor": lambda row: names.get(row.assignor, row.assignor),
        "applies to": lambda row: row.applies,
        "at the optimum": lambda row: row.at_optimum,
        "unbalanced": lambda row: row.unbalanced,
        "invalid": lambda row: row.invalid,
        "moves": lambda row: row.moves,
        "needless": lambda row: row.needless_moves,
        "moves saved": lambda row: row.moves_saved,
        "peak lag (records)": lambda row: row.peak_lag,
    }
    rows = [row for row in listed if row is not None]
    yield sheet_of(counted(ranking.rebalances, "rebalance"), columns, rows)
    if ranking.advice is not None:
        yield TextLine(f"advice: {visible(ranking.advice)}")


def _topics(topics: Sequence[str]) -> str:
    return ", ".join(_name(topic) for topic in topics[:5]) + (
        ", …" if topics[5:] else ""
    )


def _name(name: str) -> str:
    return abridged(name, NAME_SHOWN)

"""The printed parts of an answer: its assignment, transfers, objectives, and reason."""

from __future__ import annotations

from typing import Final

from oracle.cli.printing.answer_tables import assignment_table, name_of, transfer_table
from oracle.cli.printing.objective_tables import objectives_table
from oracle.cli.printing.parts import Part, TextLine
from oracle.member_transfers import transfers_of
from oracle.names import visible
from rebalance import AssignmentDocument, Instance, assignment_of

REFUSALS: Final = frozenset({"infeasible", "unknown"})
"""Statuses without an assignment."""


def answer_parts(instance: Instance, answer: AssignmentDocument) -> list[Part]:
    """Lay out an answer: the assignment, its transfers, its proofs, the reason."""
    if answer.status in REFUSALS:
        name = name_of({"group": answer.group, "id": answer.id})
        title = f"{name} · {answer.assignor} · {answer.status}"
        parts: list[Part] = [TextLine(title, bold=True)]
    else:
        parts = [assignment_table(instance, answer)]
        transfers = transfers_of(instance, assignment_of(instance, answer))
        if transfers:
            rows = [(t.giver, t.receiver, t.lag, t.partitions) for t in transfers]
            parts.append(transfer_table("Transfers", rows))
    if answer.objectives:
        parts.append(objectives_table(answer.policy or "", answer.objectives))
    elif answer.policy:
        parts.append(TextLine(f"policy: {answer.policy}"))
    if answer.reason:
        parts.append(TextLine(visible(answer.reason, limit=400)))
    return parts

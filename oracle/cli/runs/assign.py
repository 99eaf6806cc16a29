"""Run a published assignor on each rebalance."""

from __future__ import annotations

from heuristics import ASSIGNORS
from oracle.cli.options.assign import AssignOptions
from oracle.cli.runs.answer_documents import AnswerDocument, answer_all
from rebalance import Instance, about_assignment, figures_of


def assign_all(options: AssignOptions) -> None:
    """Run ``assign``; as `oracle.cli.runs.answer_documents.answer_all`."""
    chosen = ASSIGNORS[options.assignor]

    def answer(instance: Instance) -> AnswerDocument:
        assignment = chosen.assign(instance)
        figures = figures_of(instance, assignment)
        about = about_assignment(instance, assignor=options.assignor, figures=figures)
        return AnswerDocument(assignment=assignment, about=about)

    answer_all(
        options.file,
        answer,
        options,
        progress=f"running {options.assignor}",
        errors=options.errors,
    )

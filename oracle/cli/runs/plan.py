"""Read a group, answer the questions on it, and write a plan/1."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final

import typer

from oracle.cli.codes import FINE, INTERRUPTED, NO
from oracle.cli.input.given_group import given_input, history_of, read_given
from oracle.cli.input.plan_changes import checked, stated_changes, topics_of
from oracle.cli.input.unknown_names import NameWarnings
from oracle.cli.options.group_choice import GroupChoice
from oracle.cli.options.plan import PlanOptions
from oracle.cli.printing.plan import plan_parts
from oracle.cli.printing.sink import STDOUT, opened_sink
from oracle.cli.printing.terminal import printed, working
from oracle.cli.runs.solve import report_missing_kernels, solver_within
from oracle.planning import (
    Limited,
    PlanDocument,
    PlanQuestion,
    members_needed,
    rank,
    what_if,
)
from rebalance import ClaimRule, DocumentError, Rebalance, SourceError
from solver import parse_policy

DEFAULT: Final = "sticky"
WITHIN_BUDGET: Final = "none; load, stickiness"
"""With --max-moves: the most even loads, then the fewest moves."""
_NEGATIVE: Final = frozenset({"infeasible", "unknown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanRun:
    """One run of ``plan``, until ``stop`` is set."""

    options: PlanOptions
    stop: Event = field(default_factory=Event)

    @property
    def question(self) -> PlanQuestion:
        """The policy, and how to solve it within the limits."""
        options = self.options
        default = DEFAULT if options.max_moves is None else WITHIN_BUDGET
        policy = parse_policy(options.policy or default)
        if options.max_moves is not None:
            policy = replace(policy, max_moves=options.max_moves)
        return PlanQuestion(
            policy=policy,
            solve_one=solver_within(options.allowed, self.stop),
            claim_rule=ClaimRule(options.claim_rule),
            round_ms=round(1000 * options.round_time),
        )


def plan_all(options: PlanOptions) -> None:
    """Answer the questions on one group.

    Raises
    ------
    typer.Exit
        With 1 if no assignment satisfies the policy, or no number of members suffices,
        and with 130 if interrupted.
    """
    run = _PlanRun(options=options)
    with working("planning", before_output=True):
        found = _ranked(options) if options.which_assignor else _planned(run)
    with opened_sink(options.output, as_json=options.as_json) as sink:
        if options.as_json or options.output != STDOUT:
            sink.write_document(found.to_document())
        else:
            sink.write_text(printed(*plan_parts(found)))
    if run.stop.is_set():
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(NO if _is_negative(found) else FINE)


def _ranked(options: PlanOptions) -> PlanDocument:
    """Rank the assignors over a group's history."""
    choice = options.choice
    if choice.source is None or options.instance is not None:
        raise typer.BadParameter("--which-assignor requires --from, and no file")
    if stated_changes(options, Rebalance(group="", topics={}, members={})):
        raise typer.BadParameter(
            "--which-assignor is about the past: it does not take changes"
        )
    history = history_of(choice)
    advice = _advice(choice, history.group)
    ranking = rank(history.answers, history.used, advice)
    return PlanDocument(group=history.group, ranking=ranking)


def _advice(choice: GroupChoice, group: str) -> str | None:
    """Return the line that the page of the audit has about a group, of all times."""
    if choice.since is not None or choice.until is not None:
        return None
    from oracle.report import advice_of_group

    return advice_of_group(Path(choice.source or ""), group)


def _present(options: PlanOptions) -> Rebalance:
    """Read the group as it is now: members own their assigned partitions.

    Raises
    ------
    DocumentError, SourceError
        If a file does not have exactly one document.
    """
    given = given_input(options.instance, options.choice, options.max_partitions)
    documents = list(read_given(given, options.max_partitions))
    if len(documents) != 1:
        reason = f"has {len(documents)} documents: name a group by --from and --group"
        raise SourceError(reason, source=str(given))
    (document,) = documents
    if isinstance(document, DocumentError):
        raise document
    warnings = NameWarnings(str(given))
    warnings.check(document, 1)
    warnings.finish()
    return document if isinstance(given, str) else given.after()


def _planned(run: _PlanRun) -> PlanDocument:
    options = run.options
    present = _present(options)
    report_missing_kernels()
    question = run.question
    changes = stated_changes(options, present)
    changed = checked(present, changes, options.max_partitions)
    parts: dict[str, object] = {}
    limits: dict[Limited, int | None] = {
        "peak-lag": options.peak_lag_at_most,
        "load": options.load_at_most,
    }
    stated = {of: limit for of, limit in limits.items() if limit is not None}
    if len(stated) > 1:
        reason = "either --peak-lag-at-most or --load-at-most, not both"
        raise typer.BadParameter(reason)
    joining = options.subscription
    for of, limit in stated.items():
        wanted = None if joining is None else topics_of(joining)
        parts["members_needed"] = members_needed(
            changed, of, limit, question, subscription=wanted
        )
    if not stated:
        parts["outcome"] = what_if(present, changes, question)
    return PlanDocument.known(
        group=present.group,
        id=present.id,
        policy=str(question.policy),
        round_ms=question.round_ms,
        changes=changes,
        **parts,
    )


def _is_negative(found: PlanDocument) -> bool:
    if found.members_needed is not None:
        return found.members_needed.status in _NEGATIVE
    return found.outcome is not None and found.outcome.answers[0].status in _NEGATIVE

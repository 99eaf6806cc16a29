"""Read a group, answer what is asked of it, and write a plan/1."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final

import typer

from oracle.cli.codes import FINE, INTERRUPTED, NO
from oracle.cli.input.given_group import given_input, history_of, read_given
from oracle.cli.input.plan_changes import StatedChanges, checked, topics_of
from oracle.cli.input.unknown_names import NameWarnings
from oracle.cli.options.groups import GroupChoice
from oracle.cli.options.limits import Allowed
from oracle.cli.printing.plan import plan_parts
from oracle.cli.printing.sink import STDOUT, opened_sink
from oracle.cli.printing.terminal import printed, working
from oracle.cli.runs.interrupts import run_stoppable
from oracle.cli.runs.solve import report_missing_kernels
from oracle.planning import (
    Limited,
    Plan,
    Question,
    members_needed,
    rank,
    what_if,
)
from rebalance import ClaimRule, DocumentError, Instance, Rebalance, SourceError
from solver import Policy, Result, parse_policy, solve

DEFAULT: Final = "sticky"
WITHIN_BUDGET: Final = "none; load, stickiness"
"""With --max-moves: the most even loads, then the fewest moves."""
_NEGATIVE: Final = frozenset({"infeasible", "unknown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Options of a run of ``plan``."""

    leave: tuple[str, ...]
    join: tuple[str, ...]
    add_members: int
    subscribe: tuple[str, ...]
    partitions: tuple[str, ...]
    lag: tuple[str, ...]
    subscription: str | None
    policy: str | None
    max_moves: int | None
    peak_lag_at_most: int | None
    load_at_most: int | None
    which_assignor: bool
    round_ms: int
    allowed: Allowed
    claim_rule: str
    max_partitions: int
    stop: Event = field(default_factory=Event)

    @property
    def stated(self) -> StatedChanges:
        """The changes, as they are stated."""
        return StatedChanges(
            leave=self.leave,
            join=self.join,
            add_members=self.add_members,
            subscribe=self.subscribe,
            partitions=self.partitions,
            lag=self.lag,
            subscription=self.subscription,
        )

    @property
    def question(self) -> Question:
        """The policy, and how to solve it within the limits."""
        default = DEFAULT if self.max_moves is None else WITHIN_BUDGET
        policy = parse_policy(self.policy or default)
        if self.max_moves is not None:
            policy = replace(policy, max_moves=self.max_moves)
        return Question(
            policy=policy,
            solve_one=self._solve,
            claim_rule=ClaimRule(self.claim_rule),
            round_ms=self.round_ms,
        )

    def _solve(self, instance: Instance, policy: Policy) -> Result:
        limits = self.allowed.begin(self.stop)
        return run_stoppable(lambda: solve(instance, policy, limits=limits), self.stop)


def plan_all(
    file: str | None, choice: GroupChoice, asked: Asked, *, output: str, as_json: bool
) -> None:
    """Answer what is asked of one group.

    Raises
    ------
    typer.Exit
        With 1 if no assignment satisfies the policy, or no number of members suffices,
        and with 130 if interrupted.
    """
    with working("planning", before_output=True):
        found = _ranked(file, choice, asked) if asked.which_assignor else None
        if found is None:
            found = _planned(_present(file, choice, asked), asked)
    with opened_sink(output, as_json=as_json) as sink:
        if as_json or output != STDOUT:
            sink.write_document(found.to_document())
        else:
            sink.write_text(printed(*plan_parts(found)))
    if asked.stop.is_set():
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(NO if _is_negative(found) else FINE)


def _ranked(file: str | None, choice: GroupChoice, asked: Asked) -> Plan:
    """Rank the assignors over a group's history."""
    if choice.source is None or file is not None:
        raise typer.BadParameter("--which-assignor requires --from, and no file")
    if asked.stated.of(Rebalance(group="", topics={}, members={})):
        raise typer.BadParameter(
            "--which-assignor is about the past: it has no changes"
        )
    history = history_of(choice)
    advice = _advice(choice, history.group)
    ranking = rank(history.answers, history.used, advice)
    return Plan(group=history.group, ranking=ranking)


def _advice(choice: GroupChoice, group: str) -> str | None:
    """Return the line that the page of the audit has about a group."""
    from oracle.report import advice_of_group

    return advice_of_group(Path(choice.source or ""), group)


def _present(file: str | None, choice: GroupChoice, asked: Asked) -> Rebalance:
    """Read the group as it is now: members own what they were assigned.

    Raises
    ------
    DocumentError, SourceError
        If a file does not have exactly one document.
    """
    given = given_input(file, choice, asked.max_partitions)
    documents = list(read_given(given, asked.max_partitions))
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


def _planned(present: Rebalance, asked: Asked) -> Plan:
    report_missing_kernels()
    question = asked.question
    changes = asked.stated.of(present)
    changed = checked(present, changes, asked.max_partitions)
    parts: dict[str, object] = {}
    limits: dict[Limited, int | None] = {
        "peak-lag": asked.peak_lag_at_most,
        "load": asked.load_at_most,
    }
    stated = {of: limit for of, limit in limits.items() if limit is not None}
    if len(stated) > 1:
        reason = "either --peak-lag-at-most or --load-at-most, not both"
        raise typer.BadParameter(reason)
    for of, limit in stated.items():
        wanted = None if asked.subscription is None else topics_of(asked.subscription)
        parts["members_needed"] = members_needed(
            changed, of, limit, question, subscription=wanted
        )
    if not stated:
        parts["outcome"] = what_if(present, changes, question)
    return Plan.known(
        group=present.group,
        id=present.id,
        policy=str(question.policy),
        round_ms=asked.round_ms,
        changes=changes,
        **parts,
    )


def _is_negative(found: Plan) -> bool:
    if found.members_needed is not None:
        return found.members_needed.status in _NEGATIVE
    return found.outcome is not None and found.outcome.answers[0].status in _NEGATIVE

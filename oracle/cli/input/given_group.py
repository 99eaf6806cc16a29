"""Input of a subcommand: a file, or one group of any source (``--from``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from oracle.cli.options.group_choice import GroupChoice
from oracle.cli.printing.terminal import complain, working
from rebalance import (
    AssignmentDocument,
    DocumentError,
    Rebalance,
    SourceError,
    extra_needed,
    plain_of,
    read_rebalances,
    read_rebalances_or_columns,
    to_json,
)

if TYPE_CHECKING:  # the judge needs no numpy; Arrow is imported if a group is read
    from pipeline.groups import AssignorHistory, GroupRebalance
    from rebalance import ClaimRule, Instance

COOPERATIVE_ROUND: Final = (
    "the assignment is of a cooperative round: partitions that are withheld until the "
    "next round count as unassigned here"
)
BETWEEN_ROUNDS: Final = (
    "in the middle of a cooperative rebalance: partitions that are withheld until the "
    "next round have no owner here"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenGroup:
    """A group that was read from a source; its text is for messages."""

    source: str
    found: GroupRebalance

    def __str__(self) -> str:
        """Return the source and the group."""
        return f"{self.source}, group {self.rebalance.group}"

    @property
    def rebalance(self) -> Rebalance:
        """The group before the rebalance."""
        return self.found.rebalance

    @property
    def assignment(self) -> AssignmentDocument | None:
        """The assignment by its leader, if the source states it."""
        return self.found.assignment

    def without_assignment(self) -> GivenGroup:
        """Return the group without its leader's assignment."""
        return replace(self, found=replace(self.found, assignment=None))

    def after(self) -> Rebalance:
        """Return the group after it: members own their assigned partitions."""
        from pipeline.groups import with_held

        if self.assignment is None:
            return self.rebalance
        if self.found.cooperative and self._withholds():
            complain(f"{self}: {BETWEEN_ROUNDS}")
        return with_held(self.rebalance, self.assignment)

    def judged_pair(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return both documents as the judge reads them."""
        import verify

        if self.assignment is None:
            return verify.read_rebalance(to_json(self.rebalance)), None
        if self.found.cooperative and self._withholds():
            complain(f"{self}: {COOPERATIVE_ROUND}")
        return self.own_pair()

    @property
    def actual(self) -> dict[str, Any] | None:
        """The assignment, to be compared; None: the source does not state it."""
        if self.assignment is None or self.assignment.members is None:
            return None
        return {
            "members": plain_of(self.assignment)["members"],
            "assignor": self.assignment.assignor,
            "cooperative": self.found.cooperative,
        }

    def own_pair(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return instance and assignment as the judge reads them.

        Raises
        ------
        SourceError
            If the source does not state the assignment.
        """
        import verify

        if self.assignment is None:
            reason = "its source does not state the assignment of the group"
            raise SourceError(reason, source=str(self))
        instance = verify.read_rebalance(to_json(self.rebalance))
        return instance, verify.read_assignment(to_json(self.assignment))

    def write_page(self, out: Path, claim_rule: str) -> None:
        """Write the page of the rebalance, which has an assignment."""
        if self.assignment is None:
            raise typer.BadParameter("--html requires an assignment in the source")
        with extra_needed("--html", "audit"):
            from oracle.report import write_rebalance_page

        write_rebalance_page(
            to_json(self.rebalance).decode(),
            to_json(self.assignment).decode(),
            out,
            claim_rule=claim_rule,
            generation=self.found.generation,
            at=self.found.at,
            is_round=self.found.cooperative,
        )

    def _withholds(self) -> bool:
        held = (self.assignment and self.assignment.members) or {}
        wanted = {
            t for member in self.rebalance.members.values() for t in member.subscription
        }
        sizes = self.rebalance.topics.items()
        total = sum(topic.partitions for name, topic in sizes if name in wanted)
        return sum(len(n) for topics in held.values() for n in topics.values()) < total


def given_input(
    file: str | None,
    choice: GroupChoice,
    max_partitions: int,
    *,
    with_causes: bool = False,
) -> str | GivenGroup:
    """Return the file, or read the group.

    Raises
    ------
    typer.BadParameter
        If neither is given, or both.
    """
    _check(choice)
    if choice.source is None:
        if file is None:
            raise typer.BadParameter("nothing to read: give a file, or --from SOURCE")
        return file
    if file is not None:
        raise typer.BadParameter(f"either a file, {file}, or --from, not both")
    found = _read(choice, max_partitions, with_causes=with_causes)
    return GivenGroup(source=choice.source, found=found)


def read_given(
    given: str | GivenGroup, max_partitions: int
) -> Iterator[Rebalance | DocumentError]:
    """Yield the documents of a file, or the one of a group."""
    if isinstance(given, GivenGroup):
        yield given.rebalance
        return
    yield from read_rebalances(given, max_partitions=max_partitions)


def read_given_or_columns(
    given: str | GivenGroup, rule: ClaimRule, max_partitions: int
) -> Iterator[Instance | Rebalance | DocumentError]:
    """Yield the documents of a file, large ones as columns, or the one of a group."""
    if isinstance(given, GivenGroup):
        yield given.rebalance
        return
    yield from read_rebalances_or_columns(
        given, claim_rule=rule, max_partitions=max_partitions
    )


def history_of(choice: GroupChoice) -> AssignorHistory:
    """Read the judged answers over the history of a group."""
    with extra_needed("--from", "audit"):
        from pipeline.groups import TimeWindow, answers_of_group

        return answers_of_group(
            choice.source or "",
            choice.group,
            group_name=choice.group_name,
            window=TimeWindow(since=choice.since, until=choice.until),
        )


def _check(choice: GroupChoice) -> None:
    """Raise BadParameter if an option is given that requires ``--from``."""
    options = {
        "--group": choice.group,
        "--group-name": choice.group_name,
        "--generation": choice.generation,
        "--since": choice.since,
        "--until": choice.until,
        "--command-config": choice.config,
    }
    for name, value in options.items():
        if choice.source is None and value is not None:
            raise typer.BadParameter(f"{name} requires --from")


def _read(
    choice: GroupChoice, max_partitions: int, *, with_causes: bool
) -> GroupRebalance:
    """Read the group, and report facts that its source does not state."""
    with extra_needed("--from", "audit"):
        from pipeline.groups import TimeWindow, read_group

    source = choice.source or ""
    with working(f"reading {source}"), extra_needed("--from", "audit"):
        found = read_group(
            source,
            choice.group,
            choice.generation,
            config=choice.config,
            max_partitions=max_partitions,
            group_name=choice.group_name,
            window=TimeWindow(since=choice.since, until=choice.until),
            with_causes=with_causes,
        )
    for note in found.notes:
        complain(f"{source}: {note}")
    return found

"""A finding as it is defined, and the reader of ``ID.toml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from conformance.corpus import corpus
from conformance.findings.definitions.selector import Selector
from conformance.findings.definitions.upstream_status import (
    ClientStatus,
    Repair,
    Searched,
    Status,
    Thread,
)
from conformance.scenario import Scenario
from conformance.strict_model import StrictModel, model_of_toml
from rebalance import OutsideError, parse_json, rebalance_of

FOLDER: Final = Path(__file__).parent


class ExampleSource(StrictModel):
    """Where the instance of an example is: a scenario of the corpus, or here.

    Attributes
    ----------
    clients
        The clients that it is for; absent: all that the finding is about.
    scenario, step
        A scenario and the number of its step, from 0, which is the instance; the steps
        before it are sent first.
    instance
        A rebalance/1 document as JSON.
    remembers
        Whether the leader's assignor lives on from step to step, as a consumer's does.
    leads
        Whether it is shown first, although another example is smaller.
    """

    clients: Annotated[tuple[str, ...], Field(strict=False)] = ()
    scenario: str | None = None
    step: Annotated[int, Field(ge=0)] = 0
    instance: str | None = None
    remembers: bool = False
    leads: bool = False

    @model_validator(mode="after")
    def _check(self) -> ExampleSource:
        if (self.scenario is None) == (self.instance is None):
            raise ValueError("either a scenario or an instance")
        self.documents()
        return self

    def documents(self) -> tuple[dict[str, Any], ...]:
        """Return the rebalances to send, the instance last."""
        if self.instance is not None:
            document: dict[str, Any] = parse_json(self.instance)
            rebalance_of(document)
            return (document,)
        found = _scenarios().get(self.scenario or "")
        if found is None or len(found.steps) <= self.step:
            raise ValueError(f"no scenario {self.scenario!r} with step {self.step}")
        steps = found.steps[: self.step + 1]
        return tuple(step.rebalance for step in steps)


class Definition(StrictModel):
    """A mechanism by which assignors give an answer that is provably wrong, or none.

    Attributes
    ----------
    id
        Name of its file and its page.
    title
        The mechanism, as a sentence without blame.
    summary
        The fault, in one or two sentences.
    mechanism
        Why, as far as it is known.
    provable
        Why the expected result is certain.
    reachable
        Whether a real group can get into this state, and how.
    advice
        A remedy for users today, or a repair; may be empty.
    status
        Of the finding as a whole: as long as one client has it open, it is open.
    status_note
        Why it is by design, or why it was withdrawn.
    statuses
        Of clients that differ from the whole, or that have repaired it.
    searched
        When the trackers were searched for threads, and the result.
    repairs
        Suggestions to maintainers, for the reports.
    selectors
        The outcomes that belong to it; the first that selects an outcome counts.
    examples
        At least one; pages begin with the one that leads, or else the smallest.
    """

    id: str
    title: str
    status: Status
    status_note: str = ""
    summary: str
    mechanism: str
    provable: str
    reachable: str
    advice: str = ""
    selectors: Annotated[tuple[Selector, ...], Field(min_length=1, strict=False)]
    examples: Annotated[tuple[ExampleSource, ...], Field(min_length=1, strict=False)]
    threads: Annotated[tuple[Thread, ...], Field(strict=False)] = ()
    searched: Searched
    statuses: Annotated[tuple[ClientStatus, ...], Field(strict=False)] = ()
    repairs: Annotated[tuple[Repair, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _check(self) -> Definition:
        if self.status in {"by-design", "withdrawn"} and not self.status_note:
            raise ValueError(f"status {self.status!r} needs a status_note")
        if self.status == "fixed" and {o.status for o in self.statuses} != {"fixed"}:
            raise ValueError("status 'fixed' needs the first_fixed of its clients")
        return self

    def status_of(self, client: str) -> Status:
        """Return the status for one client."""
        stated = {status.client: status.status for status in self.statuses}
        return stated.get(client, self.status)

    def repair_of(self, client: str) -> Repair | None:
        """Return the repair that is suggested to a client; None: none is."""
        return next(
            (repair for repair in self.repairs if client in repair.clients), None
        )

    def place_of(self, number: int) -> tuple[bool, int, int, int]:
        """Return the sort key of an example: which one pages begin with."""
        source = self.examples[number]
        instance = source.documents()[-1]
        size = sum(topic["partitions"] for topic in instance["topics"].values())
        return not source.leads, len(instance["members"]), size, number

    def is_about(self, client: str, version: str, assignor: str) -> bool:
        """Return whether outcomes of an assignor can belong to it."""
        return any(
            selector.is_about(client, version, assignor) for selector in self.selectors
        )

    def selects(
        self,
        *,
        client: str,
        version: str,
        assignor: str,
        category: str,
        detail: str,
        family: str,
        instance: dict[str, Any],
    ) -> bool:
        """Return whether an outcome belongs to it."""
        return any(
            selector.is_about(client, version, assignor)
            and selector.selects(category, detail, family, instance)
            for selector in self.selectors
        )


@cache
def all_definitions() -> tuple[Definition, ...]:
    """Return the definitions of all findings, by id.

    Raises
    ------
    OutsideError
        If a file is not a definition.
    """
    return tuple(
        read_definition(path.read_text("utf-8"), name=path.stem)
        for path in sorted(FOLDER.glob("*.toml"))
    )


def definition(name: str) -> Definition:
    """Return the definition with an id.

    Raises
    ------
    OutsideError
        If there is none.
    """
    for candidate in all_definitions():
        if candidate.id == name:
            return candidate
    raise OutsideError(f"no finding {name!r}")


def read_definition(text: str, *, name: str) -> Definition:
    """Parse the text of an ``ID.toml``.

    Raises
    ------
    OutsideError
        If it is not a definition.
    """
    return model_of_toml(Definition, text, file=f"{name}.toml", stated={"id": name})


@cache
def _scenarios() -> dict[str, Scenario]:
    """Return the corpus by name; it has more than 150 files."""
    return {scenario.name: scenario for scenario in corpus()}

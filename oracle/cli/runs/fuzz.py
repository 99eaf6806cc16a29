"""Run ``fuzz``: draw, drive, judge, shrink, and write records or tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

import typer

from conformance.campaign import Campaign, CampaignPlan, DrawnFinding, uses_claims
from conformance.runs import (
    Category,
    DrawnOutcome,
    Finding,
    Recorder,
    Requirement,
    RunSummary,
)
from conformance.shrinking import shrunk_record
from oracle.cli.codes import FINE, NO, OUTSIDE
from oracle.cli.input.input_documents import Complaints, good
from oracle.cli.input.subjects import Absent, Tested
from oracle.cli.options.fuzz import FuzzOptions
from oracle.cli.printing.fuzz import fuzz_parts, short_counts, subjects_parts
from oracle.cli.printing.sink import Sink, opened_sink
from oracle.cli.printing.terminal import complain, printed, say, working
from oracle.cli.runs.fuzz_plan import FuzzPlan
from rebalance import OutsideError, plain_of, read_rebalances

FOR_REPRODUCERS: Final = 3
"""The last of so many parts of an assignor's time is for running reproducers."""

FOR_CLAIMS: Final = 6
"""Time of an assignor that uses claims, in units of that of one that does not."""


@dataclass(slots=True, kw_only=True)
class _FuzzRun:
    """One run of ``fuzz``: values that all assignors share, and the result of each."""

    plan: FuzzPlan
    sink: Sink
    given: Iterable[dict[str, Any]] | None
    code: int = FINE
    summaries: list[list[RunSummary]] = field(default_factory=list)

    @property
    def options(self) -> FuzzOptions:
        """Options of the run."""
        return self.plan.options

    def test(self, tested: Tested | Absent, *, deadline: float | None) -> None:
        """Test one assignor until its deadline, and write its findings.

        Raises
        ------
        OutsideError
            If it is not installed, cannot be started, or does not answer the simplest
            rebalance.
        """
        if isinstance(tested, Absent):
            raise OutsideError(tested.reason)
        tested.external.check()
        options, recorder = self.options, self.plan.recorder(tested)
        campaign = Campaign(
            source=tested.source,
            plan=CampaignPlan(
                draws=self.plan.draws(cooperative=tested.cooperative),
                given=self.given,
                shrink_seconds=options.shrink_seconds if options.shrink else None,
                deadline=self._end_of_campaign(deadline),
                guided=self.plan.is_guided,
                deterministic=tested.deterministic,
            ),
        )
        findings = []
        with closing(self._findings(campaign, recorder)) as found:
            for finding in found:
                findings.append(finding)
                if not self.sink.for_people:
                    self.sink.write_document(finding.model_dump(exclude_none=True))
        summaries = self._summaries(campaign, recorder)
        self.summaries.append(summaries)
        self._write(findings, summaries)
        self._state_repeats(summaries, tested)
        self._state_what_was_cut(campaign, findings, tested.name)
        self._reproduce(findings, tested, date=recorder.date, deadline=deadline)
        self._set_code(campaign, deterministic=tested.deterministic)

    def _set_code(self, campaign: Campaign, *, deterministic: bool) -> None:
        """Note whether an outcome does not meet the requirement."""
        requirement = Requirement(self.options.require)
        for counts in campaign.counts.values():
            for category, number in counts.outcomes.items():
                is_broken = category is Category.NONDETERMINISTIC and deterministic
                if number and (is_broken or not requirement.is_met_by(category)):
                    self.code = max(self.code, NO)

    def _end_of_campaign(self, deadline: float | None) -> float | None:
        if deadline is None or self.options.reproducers is None:
            return deadline
        return deadline - (deadline - time.monotonic()) / FOR_REPRODUCERS

    def _findings(
        self, campaign: Campaign, recorder: Recorder
    ) -> Generator[Finding, None, None]:
        """Yield the records; print each finding in short, and its shrunk form."""
        name = recorder.subject.name
        progress = working("rebalances", before_output=True)
        with progress as count, closing(campaign.run()) as events:
            campaign.advance = _times(count)
            for event in events:
                if isinstance(event, DrawnFinding):
                    done = sum(count.rebalances for count in campaign.counts.values())
                    say(f"found: {name}: {_in_short(event.sighting, done)}")
                    continue
                shrunk = event.shrunk
                small = None if shrunk is None else shrunk_record(shrunk)
                yield recorder.finding(event.sighting, small)

    def _summaries(self, campaign: Campaign, recorder: Recorder) -> list[RunSummary]:
        drawn = self.options.instances is None
        return [
            recorder.summary(
                counts,
                seed=self.options.seed if drawn else None,
                first=self.options.first if drawn else 0,
            )
            for counts in campaign.counts.values()
        ]

    def _write(self, findings: list[Finding], summaries: list[RunSummary]) -> None:
        say(f"done: {summaries[0].subject.name}: {short_counts(summaries)}")
        if self.sink.for_people:
            self.sink.write_text(printed(*fuzz_parts(findings, summaries)))
            return
        for record in summaries:
            self.sink.write_document(record.model_dump(exclude_none=True))

    def _state_repeats(self, summaries: list[RunSummary], tested: Tested) -> None:
        """Say whether answers were repeated, and whether those that differ count."""
        if not tested.repeats:
            if self.options.repeat:
                tested.say_not_repeated()
            return
        differ = sum(summary.outcomes["nondeterministic"] for summary in summaries)
        if differ and not tested.deterministic:
            repeated = sum(summary.repeated or 0 for summary in summaries)
            share = f"{differ:,} of {repeated:,} repeated answers differ"
            say(f"note: {tested.name}: {share}; it is not declared deterministic")

    def _state_what_was_cut(
        self, campaign: Campaign, findings: list[Finding], name: str
    ) -> None:
        """Print the tasks that the end of the time prevented."""
        if campaign.plan.deadline is None or time.monotonic() < campaign.plan.deadline:
            return
        none = [count.family for count in campaign.counts.values() if not count.draws]
        cut = [
            finding
            for finding in findings
            if finding.shrunk and not finding.shrunk.minimal
        ]
        parts = [f"no draw of {', '.join(none)}"] if none else []
        if cut:
            parts.append(f"{len(cut)} of {len(findings)} findings are not minimal")
        if parts:
            say(f"--time ended the run: {name}: {'; '.join(parts)}")

    def _reproduce(
        self,
        findings: list[Finding],
        tested: Tested,
        *,
        date: str,
        deadline: float | None,
    ) -> None:
        """Write the reproducers, and state for each whether it was confirmed."""
        if self.options.reproducers is None:
            return
        from oracle.cli.runs.fuzz_reproducers import write_reproducers

        folder = Path(self.options.reproducers)
        client = tested.external.client
        if client is not None and self.options.client != client.spec:
            folder /= client.assignor  # one of several
        for line in write_reproducers(findings, folder, date=date, deadline=deadline):
            say(f"reproducer: {line}")


def fuzz_all(options: FuzzOptions) -> NoReturn:
    """Test the subjects one after the other, and write findings and counts.

    A time is shared: time that one assignor does not need, the others have.

    Raises
    ------
    typer.Exit
        After the last record: with 2 if part of the instances was unreadable, with 3 if
        an assignor could not be tested, else with 1 if an outcome does not meet the
        requirement.
    OutsideError
        If the only subject cannot be tested.
    """
    begun = time.monotonic()
    plan = FuzzPlan(options=options)
    plan.check()
    subjects = plan.subjects()
    with opened_sink(options.output, as_json=options.as_json) as sink:
        deadline = None if options.time is None else begun + options.time
        complaints = Complaints()
        given = _given(options.instances, complaints)
        if given is not None and len(subjects) > 1:
            given = list(given)  # read once: the file can be a pipe
        run = _FuzzRun(plan=plan, sink=sink, given=given)
        weights = _weights(subjects, plan)
        for number, subject in enumerate(subjects):
            try:
                run.test(subject, deadline=_share(deadline, weights[number:]))
            except OutsideError as error:
                if len(subjects) == 1:
                    raise
                complain(str(error))
                run.code = OUTSIDE
        if sink.for_people and len(run.summaries) > 1:
            sink.write_text(printed(*subjects_parts(run.summaries)))
    raise typer.Exit(complaints.exit_code or run.code)


def _given(file: str | None, complaints: Complaints) -> Iterable[dict[str, Any]] | None:
    """Return the instances of a file, as they are read."""
    if file is None:
        return None
    return (plain_of(found) for _, found in good(read_rebalances(file), complaints))


def _weights(subjects: list[Tested | Absent], plan: FuzzPlan) -> list[int]:
    """Return the parts of the time: more for assignors that use claims."""
    if len(subjects) == 1 or not plan.is_guided:
        return [1] * len(subjects)
    return [_weight(subject) for subject in subjects]


def _weight(subject: Tested | Absent) -> int:
    if isinstance(subject, Absent):
        return 0
    try:
        return FOR_CLAIMS if uses_claims(subject.external) else 1
    except (OSError, OutsideError):
        return 0  # the test states why


def _share(deadline: float | None, weights: list[int]) -> float | None:
    """Return when the next subject has to end; it has the first of the weights."""
    if deadline is None:
        return None
    now, whole = time.monotonic(), sum(weights)
    part = weights[0] / whole if whole else 1.0
    return now + max(0.0, deadline - now) * part


def _times(count: Callable[[], None]) -> Callable[[int], None]:
    def advance(rebalances: int) -> None:
        for _ in range(rebalances):
            count()

    return advance


def _in_short(sighting: DrawnOutcome, rebalances: int) -> str:
    """Return the finding, its place, and the number of rebalances so far."""
    outcome = sighting.outcome
    parts = [outcome.category.value, outcome.detail]
    if outcome.place:
        parts.append(f"in {outcome.place}")
    kind = " ".join(part for part in parts if part)
    where = f"family {sighting.family}, draw {sighting.index}"
    where += f", after {rebalances:,} rebalance" + "s" * (rebalances != 1)
    why = outcome.reason if outcome.category is not Category.HANG else None
    first = (why or "").partition("\n")[0]
    return f"{kind}: {where}" + (f": {first}" if first else "")

"""Judge the pairs of an instance file and an assignment file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import typer

import verify
from oracle.cli.codes import NO
from oracle.cli.input.given_group import GivenGroup, given_input
from oracle.cli.input.input_documents import Complaints, refusals
from oracle.cli.input.pairing import Document, Instances, pairs_of, read_instances
from oracle.cli.options.judge import JudgeOptions
from oracle.cli.printing.sink import Sink, opened_sink
from oracle.cli.printing.terminal import printed, working
from oracle.cli.printing.verdict_tables import verdict_parts
from rebalance import DocumentError, SourceError

Verdict = dict[str, Any]


def _is_kip54_balanced(verdict: Verdict) -> bool:
    """Return whether an assignment is KIP-54 balanced and withholds no partition."""
    figures = verdict["figures"]
    return bool(figures.get("kip54_balanced")) and not figures.get("withheld")


def _is_at_optimum(verdict: Verdict) -> bool:
    """Return whether an assignment reaches the optimum that it was compared with.

    Without a policy: it is dec-min balanced and has no needless moves. With one: it
    meets balance and budget, and every objective has the optimum's value. False if the
    optimum is not proved, and while partitions are withheld.
    """
    against = verdict.get("against")
    if against is None or against["gap"] is None or verdict["figures"].get("withheld"):
        return False
    gap = against["gap"]
    if "policy" in verdict:
        return all(gap.get(objective["of"]) == 0 for objective in verdict["objectives"])
    return bool(verdict["figures"]["dec_min_balanced"]) and gap["moves"] == 0


_MET: Final[Mapping[str, Callable[[Verdict], bool]]] = {
    "valid": lambda _: True,  # an invalid verdict meets no requirement
    "kip54": _is_kip54_balanced,
    "optimum": _is_at_optimum,
    "proved": verify.is_proved,
}


def judge_all(options: JudgeOptions) -> NoReturn:
    """Run ``judge``.

    Raises
    ------
    SourceError
        If a source of ``--from`` does not state the facts on which a verdict depends.
    typer.Exit
        After the last verdict: with 2 if part of the input was unreadable, else with 1
        if a verdict is invalid or does not meet the requirement.
    """
    given = given_input(options.instances, options.choice, options.max_partitions)
    if options.instances == options.assignments == "-":
        raise typer.BadParameter("only one of the two can be standard input")
    if isinstance(given, GivenGroup):
        _judge_group(given, options)
    if options.assignments is None:
        raise typer.BadParameter("no ASSIGNMENTS to judge")
    _judge_files(given, options.assignments, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judging:
    """Verdicts on the pairs of a run, as its options ask for them."""

    options: JudgeOptions
    cooperative: bool

    def is_met(self, verdict: Verdict) -> bool:
        """Return whether a verdict meets the requirement for exit code 0."""
        is_valid = verdict["verdict"] != "invalid"
        return is_valid and _MET[self.options.require](verdict)

    def verdict(self, instance: Document, assignment: Document) -> Verdict:
        """Judge one assignment.

        Raises
        ------
        InstanceError
            If the optimum is requested and cannot be computed for the instance.
        """
        options = self.options
        case = verify.case_of(instance, claim_rule=options.claim_rule)
        verdict = verify.judge_case(case, assignment, cooperative=self.cooperative)
        if options.compares_with_optimum and verdict["verdict"] != "unreadable":
            from oracle.cli.runs.judged_optimum import optimum_beside
            from pipeline.evaluation import Evaluation
            from rebalance import ClaimRule, rebalance_of

            rule = ClaimRule(options.claim_rule)
            document = rebalance_of(instance, max_partitions=options.max_partitions)
            evaluation = Evaluation(document, rule, case=case)
            verdict["against"] = optimum_beside(evaluation, verdict, options.time_limit)
        return verdict


def _judge_files(instances: str, assignments: str, options: JudgeOptions) -> NoReturn:
    """Judge every assignment of a file, in its order."""
    judging = _Judging(options=options, cooperative=options.cooperative)
    complaints = Complaints()
    known = Instances(instances, read_instances(instances, options.max_partitions))
    unmet = 0
    written = opened_sink(options.output, as_json=options.as_json)
    with written as sink, working("judging") as count:
        for verdict in _verdicts(known, assignments, judging, complaints):
            is_met = judging.is_met(verdict)
            unmet += not is_met
            _write(sink, verdict, unmet=None if is_met else options.require)
            count()
    raise typer.Exit(complaints.exit_code or (NO if unmet else 0))


def _judge_group(group: GivenGroup, options: JudgeOptions) -> NoReturn:
    """Judge the assignment of a group; a cooperative round by the rules of rounds."""
    if group.found.premises:
        reason = f"a verdict would presume: {'; '.join(group.found.premises)}"
        helps = "audit states the conclusions from the text alone"
        raise SourceError(f"{reason} ({helps})", source=str(group))
    instance, assignment = group.own_pair()
    judging = _Judging(
        options=options, cooperative=options.cooperative or group.found.cooperative
    )
    with working("judging"):
        verdict = judging.verdict(instance, assignment)
    is_met = judging.is_met(verdict)
    with opened_sink(options.output, as_json=options.as_json) as sink:
        _write(sink, verdict, unmet=None if is_met else options.require)
    raise typer.Exit(0 if is_met else NO)


def _verdicts(
    known: Instances, source: str, judging: _Judging, complaints: Complaints
) -> Iterator[Verdict]:
    for number, instance, assignment in pairs_of(known, source, complaints):
        if isinstance(assignment, DocumentError):
            yield _unreadable(assignment, "assignment")
        elif isinstance(instance, DocumentError):
            yield _unreadable(instance, "instance")
        else:
            with refusals(complaints, source=source, number=number):
                verdict = judging.verdict(instance, assignment)
                if verdict["verdict"] == "unreadable":
                    culprit = verdict["evidence"]["unreadable"]
                    reason = f"{culprit['path']}: {culprit['reason']}"
                    complaints.add(f"{source}: document {number}: {reason}")
                yield verdict


def _unreadable(error: DocumentError, document: str) -> Verdict:
    shown = verify.Unreadable(error.reason, path=error.path)
    return verify.unreadable(shown, document=document)


def _write(sink: Sink, verdict: Verdict, *, unmet: str | None) -> None:
    if sink.for_people:
        sink.write_text(printed(*verdict_parts(verdict, unmet=unmet)))
    else:
        sink.write_document(verdict)

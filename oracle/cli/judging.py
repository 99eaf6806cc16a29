"""Judge the pairs of two files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import typer

import verify
from oracle.cli.codes import NO
from oracle.cli.inputs import Complaints
from oracle.cli.judging_policy import against_policy
from oracle.cli.pairing import Document, Instances
from oracle.cli.sink import Sink, opened_sink
from oracle.cli.terminal import printed, working
from oracle.cli.verdict_table import verdict_parts
from rebalance.errors import DocumentError, InstanceError, SourceError
from rebalance.reading import read_documents

Verdict = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How to judge."""

    against_optimum: bool
    cooperative: bool
    claim_rule: str
    seconds: float | None = None  # for the optimum of each policy

    def verdict(self, instance: Document, assignment: Document) -> Verdict:
        """Judge one assignment.

        Raises
        ------
        InstanceError
            If the optimum is asked for and the instance cannot be asked for it.
        """
        verdict = verify.judge(
            instance,
            assignment,
            claim_rule=self.claim_rule,
            cooperative=self.cooperative,
        )
        if self.against_optimum and verdict["verdict"] != "unreadable":
            verdict["against"] = (
                self._against(instance, verdict)
                if "policy" not in verdict
                else against_policy(
                    instance, verdict, claim_rule=self.claim_rule, seconds=self.seconds
                )
            )
        return verdict

    def _against(self, instance: Document, verdict: Verdict) -> Verdict:
        from oracle.against import optimum_of

        best = optimum_of(instance, self.claim_rule)
        return {
            "assignor": "optimum",
            "status": best.assignment["status"],
            "figures": best.verdict["figures"],
            "proved": best.verdict["proved"],
            "gap": best.gap(verdict["figures"]),
        }


def judge_all(
    instances: str, assignments: str, judging: Judging, *, output: str, as_json: bool
) -> None:
    """Judge every assignment of a file, in its order.

    Raises
    ------
    typer.Exit
        With 2 when part of the input was not good, else with 1 when a verdict is
        invalid; after the last verdict.
    """
    complaints = Complaints()
    known = Instances(instances, _read(instances, verify.read_rebalance))
    for document in known.documents:
        if isinstance(document, DocumentError):
            complaints.add(str(document))
    invalid = 0
    with opened_sink(output, as_json=as_json) as sink, working("judging") as count:
        for verdict in _verdicts(known, assignments, judging, complaints):
            invalid += verdict["verdict"] == "invalid"
            _write(sink, verdict)
            count()
    if known.unanswered:
        places = ", ".join(str(place + 1) for place in known.unanswered[:5])
        number = len(known.unanswered)
        complaints.add(
            f"{instances}: {number} without an assignment: document {places}"
        )
    raise typer.Exit(complaints.exit_code or (NO if invalid else 0))


def _verdicts(
    known: Instances, source: str, judging: Judging, complaints: Complaints
) -> Iterator[Verdict]:
    for place, assignment in enumerate(_read(source, verify.read_assignment)):
        if isinstance(assignment, DocumentError):
            complaints.add(str(assignment))
            known.pass_over(place)
            yield _unreadable(assignment, "assignment")
            continue
        try:
            instance = known.of(assignment, place)
            if isinstance(instance, DocumentError):
                yield _unreadable(instance, "instance")
            else:
                verdict = judging.verdict(instance, assignment)
                if verdict["verdict"] == "unreadable":  # the policy cannot be judged
                    culprit = verdict["evidence"]["unreadable"]
                    reason = f"{culprit['path']}: {culprit['reason']}"
                    complaints.add(f"{source}: document {place + 1}: {reason}")
                yield verdict
        except (SourceError, InstanceError) as error:
            complaints.add(f"{source}: document {place + 1}: {error}")


def _read(
    source: str, read: Callable[[bytes], Document]
) -> Iterator[Document | DocumentError]:
    """Read documents with the judge's own reader, which trusts none of ours."""

    def parse(text: bytes, *, source: str | None, line: int | None) -> Document:
        try:
            return read(text)
        except verify.Unreadable as error:
            raise DocumentError(
                error.reason, path=error.path, source=source, line=line
            ) from None

    return read_documents(source, parse)


def _unreadable(error: DocumentError, document: str) -> Verdict:
    shown = verify.Unreadable(error.reason, path=error.path)
    return verify.unreadable(shown, document=document)


def _write(sink: Sink, verdict: Verdict) -> None:
    if sink.for_people:
        sink.write_text(printed(*verdict_parts(verdict)))
    else:
        sink.write_document(verdict)

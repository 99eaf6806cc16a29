"""Run Kafka's assignor, ours, and the optimum on a rebalance; one line per run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from benchmarks.peers import OURS
from conformance.clients import Adapter, Answer, Verdict, judged
from heuristics import ASSIGNORS
from heuristics.cooperative_sticky import MOST_ROUNDS
from rebalance import (
    NOBODY,
    Assignment,
    AssignmentDocument,
    Instance,
    assignment_of,
    figures_of,
    instance_of,
    parse_rebalance,
)
from solver import solve

Line = dict[str, Any]
Document = dict[str, Any]

FIGURES: Final = ("score", "squares", "moves", "far")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedCase:
    """A rebalance, its optimum, and the number of partitions to be assigned."""

    document: Document
    instance: Instance
    optimum: Line
    served: int

    @classmethod
    def of(cls, document: Document) -> Self:
        """Encode and solve a document."""
        instance = instance_of(parse_rebalance(json.dumps(document)))
        best = solve(instance).require_assignment()
        served = int((best.assignee != NOBODY).sum())
        optimum = counted(instance, best)
        return cls(document=document, instance=instance, optimum=optimum, served=served)


def lines_of(
    kafka: Adapter, keys: Line, name: str, cases: Iterable[SolvedCase]
) -> Iterator[Line]:
    """Compare on every case; ``keys`` are fields of every line."""
    for seed, case in enumerate(cases):
        ours = ASSIGNORS[OURS[name]].assign(case.instance)
        line = keys | {
            "seed": seed,
            "ours": counted(case.instance, ours),
            "optimum": case.optimum,
        }
        theirs, line["verdict"] = answer_of(kafka, name, case)
        if theirs is not None:
            assigned = assignment_of(case.instance, theirs)
            line["theirs"] = counted(case.instance, assigned)
            line["equal"] = bool((assigned.assignee == ours.assignee).all())
        yield line


def counted(instance: Instance, assignment: Assignment) -> Line:
    """Count KIP-54's score, sum of squares, moves, and rack mismatches."""
    figures = figures_of(instance, assignment)
    loads = np.array(figures.loads, dtype=np.int64)
    found = (
        figures.kip54_score,
        int((loads * loads).sum()),
        figures.moves,
        figures.rack_mismatches,
    )
    return dict(zip(FIGURES, found, strict=True))


def answer_of(
    kafka: Adapter, name: str, case: SolvedCase
) -> tuple[AssignmentDocument | None, str]:
    """Run Kafka's assignor, to the stable state if cooperative; None if invalid."""
    document = case.document
    if name != "cooperative-sticky":
        answer = _judged_answer(kafka, document, cooperative=False)
        is_valid = answer.verdict is Verdict.ANSWERED
        return answer.assignment if is_valid else None, _outcome(answer)
    for _ in range(MOST_ROUNDS):
        answer = _judged_answer(kafka, document, cooperative=True)
        if answer.verdict is not Verdict.ANSWERED or answer.assignment is None:
            return None, _outcome(answer)
        held = answer.assignment.members
        given = sum(len(ns) for mine in held.values() for ns in mine.values())
        if given == case.served:
            return answer.assignment, _outcome(answer)
        document = _rejoined(document, held)
    return None, "restless"


def _judged_answer(kafka: Adapter, document: Document, *, cooperative: bool) -> Answer:
    text = json.dumps(document).encode()
    return judged(kafka.answer(text), text, cooperative=cooperative)


def _outcome(answer: Answer) -> str:
    """Return the verdict, or the violated rule."""
    broken = re.search(r"'rule': '([\w-]+)'", answer.reason or "")
    return broken[1] if broken else answer.verdict.value


def _rejoined(document: Document, held: Document) -> Document:
    members = document["members"]
    newest = max(member.get("generation", -1) for member in members.values())
    rejoined = {
        m: member | {"owned": held[m], "generation": newest + 1}
        for m, member in members.items()
    }
    return document | {"members": rejoined}

"""Assertions on the answer of an assignor, judged by `verify`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.testing.assigned_members import (
    Assignment,
    Document,
    assignment_document,
)
from rebalance import ClaimRule, instance_of, members_of, rebalance_of
from solver import solve
from verify import case_of, judge_case, read_assignment, read_rebalance

SHOWN: Final = 4_000
"""Longest document in a message, in characters."""


def assert_valid(
    instance: Mapping[str, Any],
    assignment: Assignment,
    *,
    cooperative: bool = False,
    claim_rule: str = "newest-claim",
) -> None:
    """Assert that an assignment violates no rule.

    Every partition with a subscriber is assigned to exactly one of its subscribers, and
    nothing else is assigned.

    Parameters
    ----------
    instance : mapping
        A rebalance/1 document.
    assignment : mapping
        An assignment/1 document; or per member the numbers per topic, or (topic,
        number) pairs.
    cooperative : bool
        Judge one round of a cooperative rebalance (KIP-429): partitions that another
        member still has to revoke are withheld; those of a topic that their claimant
        has left can be.
    claim_rule : str
        Which of several claims counts: ``newest-claim`` or ``current-generation``.

    Raises
    ------
    AssertionError
        With every violation, the instance, and the assignment.
    verify.Unreadable
        If the instance or the assignment does not have its format.
    """
    __tracebackhide__ = True
    given, answer = _read(instance, assignment)
    case = case_of(given, claim_rule=claim_rule)
    verdict = judge_case(case, answer, cooperative=cooperative)
    _reject(_violations(verdict), given, answer)


def assert_optimal(
    instance: Mapping[str, Any],
    assignment: Assignment,
    *,
    claim_rule: str = "newest-claim",
) -> None:
    """Assert that an assignment is valid, dec-min balanced, and moves the fewest.

    The optimum comes from the exact core, and the judge checks its certificate: a
    failure is a proof that a better assignment exists, and the message shows one.
    Parameters are as in `assert_valid`.

    Raises
    ------
    AssertionError
        With every violation; or with the figures of the assignment and of the optimum,
        and the optimum itself.
    verify.Unreadable
        If the instance or the assignment does not have its format.
    """
    __tracebackhide__ = True
    given, answer = _read(instance, assignment)
    case = case_of(given, claim_rule=claim_rule)
    verdict = judge_case(case, answer)
    _reject(_violations(verdict), given, answer)
    better = _optimum(given, claim_rule)
    optimum = judge_case(case, better)
    if not (optimum["proved"]["dec_min"] and optimum["proved"]["stickiness"]):
        raise RuntimeError("the optimum is not proved: a defect; please report it")
    _reject(_gaps(verdict, optimum), given, answer, better=better["members"])


def _read(
    instance: Mapping[str, Any], assignment: Assignment
) -> tuple[Document, Document]:
    """Read both documents strictly, as the judge's command line does."""
    given = read_rebalance(json.dumps(instance))
    answer = assignment_document(assignment)
    # An assignor's claims about its answer are not of interest here.
    bare = {key: answer[key] for key in ("format", "members") if key in answer}
    return given, read_assignment(json.dumps(bare))


def _optimum(instance: Document, claim_rule: str) -> Document:
    """Return the optimum as assignment/1, with its certificate."""
    columns = instance_of(rebalance_of(instance), claim_rule=ClaimRule(claim_rule))
    result = solve(columns)
    document = result.to_document(columns).model_dump(mode="json", exclude_none=True)
    members = members_of(columns, result.require_assignment())
    stated = {"format": "assignment/1", "members": members}
    return stated | {"certificate": document["certificate"]}


def _violations(verdict: Document) -> list[str]:
    """Return one line per violation; none if the assignment is valid."""
    more = verdict.get("more_violations", {})
    lines = [
        "  " + _violation(violation, sorted(violation.keys() - {"rule"}))
        for violation in verdict["violations"]
    ]
    lines += [f"  {rule}: {count} more" for rule, count in sorted(more.items())]
    return ["the assignment is invalid:", *lines] if lines else []


def _violation(violation: Mapping[str, Any], keys: list[str]) -> str:
    return f"{violation['rule']}: " + ", ".join(
        f"{key} {violation[key]!r}" for key in keys
    )


def _gaps(verdict: Document, optimum: Document) -> list[str]:
    """Return one line per figure that the optimum improves; none at the optimum."""
    mine, best = verdict["figures"], optimum["figures"]
    if mine["dec_min_balanced"]:
        needless = mine["moves"] - best["moves"]
        line = f"  moves {mine['moves']}, the fewest are {best['moves']}"
        return ["the assignment moves partitions needlessly:", line] * bool(needless)
    lines = [f"  loads {mine['loads']}, the best are {best['loads']}"]
    chain = verdict["evidence"].get("dec_min_balanced")
    if chain:
        lines.append("  each passes one partition to the next: " + " → ".join(chain))
    return ["the assignment is valid, but not balanced:", *lines]


def _reject(
    lines: list[str],
    instance: Document,
    assignment: Document,
    *,
    better: Document | None = None,
) -> None:
    """Raise AssertionError with these lines and the documents, if there are lines."""
    __tracebackhide__ = True
    if lines:
        raise AssertionError("\n".join([*lines, *_shown(instance, assignment, better)]))


def _shown(
    instance: Document, assignment: Document, better: Document | None
) -> Iterator[str]:
    documents = {
        "instance": instance,
        "assignment": assignment["members"],
        "a better one": better,
    }
    for name, document in documents.items():
        if document is not None:
            text = json.dumps(document, default=sorted, ensure_ascii=False)
            end = "" if len(text) <= SHOWN else f"… ({len(text):,} characters)"
            yield f"{name}: {text[:SHOWN]}{end}"

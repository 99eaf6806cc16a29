"""Which stored findings belong to which definition; none of safety may be left over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.findings.definitions import Definition, all_definitions
from conformance.findings.stored import smallest_instance
from conformance.runs.categories import SAFETY
from conformance.runs.run_records import Finding
from rebalance import OutsideError

_SAFETY = frozenset(category.value for category in SAFETY)


def definitions_of(finding: Finding) -> tuple[Definition, ...]:
    """Return the definitions that select a stored finding."""
    subject, instance = finding.subject, smallest_instance(finding)
    return tuple(
        definition
        for definition in all_definitions()
        if definition.selects(
            client=subject.client or "",
            version=subject.version or "",
            assignor=subject.assignor or "",
            category=finding.category,
            detail=finding.detail,
            family=finding.family,
            instance=instance,
        )
    )


def findings_by_definition(
    findings: Iterable[Finding],
) -> Mapping[str, tuple[Finding, ...]]:
    """Return the findings of each definition by its id; a finding can have several.

    Raises
    ------
    OutsideError
        If a finding of safety belongs to none; the message names all of them.
    """
    found: dict[str, list[Finding]] = {
        definition.id: [] for definition in all_definitions()
    }
    left_over: list[str] = []
    for finding in findings:
        belongs = definitions_of(finding)
        for definition in belongs:
            found[definition.id].append(finding)
        if not belongs and finding.category in _SAFETY:
            left_over.append(place_of(finding))
    if left_over:
        raise OutsideError("no definition covers: " + "; ".join(left_over))
    return {name: tuple(ones) for name, ones in found.items()}


def uncovered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings of safety that no definition selects."""
    return tuple(
        finding
        for finding in findings
        if finding.category in _SAFETY and not definitions_of(finding)
    )


def place_of(finding: Finding) -> str:
    """Return where a finding was drawn, and its category and mechanism."""
    where = f"{finding.family} {finding.index}/{finding.step}"
    return f"{finding.subject.name}, {where}: {finding.category} {finding.detail}"

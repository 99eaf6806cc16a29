"""What a page shows of one case: the expected result with its proof, and the actual."""

from __future__ import annotations

from collections.abc import Iterator

import verify
from studies.findings.case import Case, Document, Held
from studies.findings.prose import (
    OUTCOMES,
    RULES,
    held_table,
    one_line,
    partitions_in_words,
    wrapped,
)


def expected_lines(case: Case) -> Iterator[str]:
    """Yield the table of the optimum, for cooperative rounds with the first one."""
    if case.expected is None:
        yield "There is no record of an answer to compare with."
        return
    optimum = case.expected.members
    if not case.cooperative:
        yield from held_table(optimum)
        return
    first, waits = first_round(case.instance, optimum)
    yield "| member | first round | stable state |"
    yield "| --- | --- | --- |"
    for name in sorted(optimum):
        now, then = partitions_in_words(first[name]), partitions_in_words(optimum[name])
        yield f"| `{name}` | {now} | {then} |"
    if waits:
        yield f"| nobody | {partitions_in_words(waits)} (withheld) | – |"


def first_round(
    instance: Document, optimum: Held
) -> tuple[dict[str, dict[str, list[int]]], dict[str, list[int]]]:
    """Return what members receive at once, and what another still has to revoke.

    Withheld is what the judge says that another member holds: one with the newest claim
    (`verify.rules.unrevoked`).
    """
    claimants = verify.case_of(instance).claimants
    first: dict[str, dict[str, list[int]]] = {name: {} for name in optimum}
    waits: dict[str, list[int]] = {}
    for name, topics in optimum.items():
        for topic, number in ((t, n) for t, numbers in topics.items() for n in numbers):
            holders = set(claimants.get(topic, {}).get(number, ())) - {name}
            place = waits if holders else first[name]
            place.setdefault(topic, []).append(number)
    return first, waits


def certificate_in_words(case: Case) -> str:
    """Return the levels of the certificate in words."""
    expected = case.expected
    certificate = None if expected is None else getattr(expected, "certificate", None)
    if certificate is None:
        return ""
    plain = certificate if isinstance(certificate, dict) else certificate.model_dump()
    levels: dict[int, list[str]] = {}
    for name, level in plain["level"].items():
        levels.setdefault(level, []).append(f"`{name}`")
    parts = [
        f"{', '.join(sorted(names))}: {level} or {level + 1}"
        for level, names in sorted(levels.items())
    ]
    return (
        "Its certificate states between which loads each member is in every most even "
        f"assignment ({'; '.join(parts)}), and proves this together with the number of "
        "moves ([method](../method.md#the-certificate))."
    )


def actual_lines(case: Case) -> Iterator[str]:
    """Yield what the assignor answered, in a sentence and a table."""
    if case.spec is None:
        yield "No tested version shows it at present."
        return
    last = case.rounds[-1]
    rounds = f" in round {len(case.rounds)}" if len(case.rounds) > 1 else ""
    verb = (
        " returns"
        if case.category not in {"hang", "crash", "error", "restless"}
        else ":"
    )
    outcome = OUTCOMES[case.category or "optimal"]
    yield wrapped(f"`{case.spec}`{verb} {outcome}{rounds}{_because(case)}.")
    if last.members is not None:
        yield ""
        yield from held_table(last.members)


def _because(case: Case) -> str:
    if case.category in {"invalid", "unrevoked"}:
        violation = next(
            (v for v in case.rounds[-1].violations if v.get("rule") == case.detail),
            None,
        )
        place = ""
        if violation is not None and "partition" in violation:
            place = f" ({violation['topic']}:{violation['partition']})"
        return f": {RULES.get(case.detail, case.detail)}{place}"
    if case.category in {"error", "crash"} and case.reason:
        return f", `{one_line(case.reason)}`"
    if case.category == "needless-moves":
        return f", {case.needless_moves} more than the optimum"
    return ""

"""The page of one finding, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from conformance.findings import Definition, Trial
from conformance.runs import Finding
from oracle.wording import counted
from tools.findings.affected import affected_by, affected_in_words
from tools.findings.case import Case, Document, Held
from tools.findings.evidence import Reproducer
from tools.findings.prose import (
    OUTCOMES,
    RULES,
    held_table,
    instance_json,
    item,
    partitions_in_words,
    wrapped,
)
from tools.findings.replays import record_in_words, replays_of

STATUS: Final = {"open": "open", "by-design": "by design", "withdrawn": "withdrawn"}
LEGEND: Final = """
Gray cells are topics that the member reads. *kept* and *moved*: with a claimant, or
with somebody else; *new*: nobody claimed it; *waits*: withheld until it is revoked;
*× wrong*: violates a rule; dashed claims: the member does not subscribe to the topic
any more.
"""
PLACES: Final = 6
ALL_REAL: Final = "all real"
HANDED_OUT: Final = "all real, claims handed out"
NO_FAULT: Final = "no fault"
"""What a confirmation expects of a version that does not have the finding."""


def page_context(
    definition: Definition,
    case: Case,
    trials: Sequence[Trial],
    findings: Sequence[Finding],
    *,
    reproducers: Sequence[Reproducer],
    confirmations: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Return the values of the template ``finding.md.j2``."""
    hit, clean = affected_by(trials, findings)
    spared = "; ".join(
        f"{one.client} {', '.join(one.spared)}" for one in hit if one.spared
    )
    return {
        "id": definition.id,
        "title": definition.title,
        "status": STATUS[definition.status],
        "status_note": wrapped(definition.status_note),
        "outcome": outcome_in_words(trials, findings),
        "affected": affected_in_words(hit) or "none",
        "spared": spared,
        "clean": ", ".join(clean),
        "found_with": _found_with(trials, findings),
        "summary": wrapped(definition.summary),
        "told": told_of(definition, case),
        "legend": wrapped(LEGEND),
        "mechanism": wrapped(definition.mechanism),
        "advice": wrapped(definition.advice),
        "instance_intro": wrapped(_instance_intro(definition, case)),
        "instances": [instance_json(one) for one in (*case.before, case.instance)],
        "others": list(_others(definition, case)),
        "provable": wrapped(definition.provable),
        "expected": list(_expected(case)),
        "certificate": wrapped(_certificate(case)),
        "actual": list(_actual(case, trials)),
        "repetition": wrapped(_repetition(case)),
        "commands": list(_commands(definition, case, findings)),
        "reproducers": [_reproducer(one) for one in reproducers],
        "reachable": wrapped(definition.reachable),
        "is_tried": bool(confirmations),
        "confirmations": list(
            _histories([one for one in confirmations if not one.get("way")])
        ),
        "replays": replays_of(confirmations),
        "threads": [item(f"<{one.url}>: {one.says}.") for one in definition.threads],
    }


def told_of(definition: Definition, case: Case) -> str:
    """Return the description of the picture."""
    members = len(case.instance["members"])
    size = sum(topic["partitions"] for topic in case.instance["topics"].values())
    who = f"the answer of {case.spec}" if case.spec else "no answer"
    parts = f"{counted(members, 'member')}, {counted(size, 'partition')}"
    return f"{definition.id}: {parts}; claims, {who}, and an optimal answer"


def outcome_in_words(trials: Iterable[Trial], findings: Iterable[Finding]) -> str:
    """Return the outcomes that were seen, the worst first."""
    seen = {one.category for one in trials if one.shows}
    seen |= {one.category for one in findings}
    words = [f"{OUTCOMES[name]} (`{name}`)" for name in OUTCOMES if name in seen]
    return "; ".join(words) or "not seen in the present records"


def _found_with(trials: Sequence[Trial], findings: Sequence[Finding]) -> str:
    dates = sorted({one.date for one in trials})
    oracle = sorted({one.oracle for one in trials})
    examples = f"examples tried on {', '.join(dates)} by version {', '.join(oracle)}"
    seeds = sorted({one.seed for one in findings if one.seed is not None})
    families = sorted({one.family for one in findings if one.seed is not None})
    if not families:
        return examples
    drawn = f"random families {', '.join(families)} (seed {', '.join(map(str, seeds))})"
    return f"{examples}; {drawn}"


def _instance_intro(definition: Definition, case: Case) -> str:
    number = next(
        (
            place
            for place, one in enumerate(definition.examples)
            if one.documents()[-1] == case.instance
        ),
        None,
    )
    again = "The leader's assignor sees these rebalances one after the other. "
    if number is None:
        return "The smallest instance on record, shrunk from a random rebalance."
    count = len(definition.examples)
    named = definition.examples[number].scenario
    corpus = f", the scenario `{named}` of the [corpus](../conformance.md#corpus)"
    place = f"Example {number + 1} of {count}" if count > 1 else "The example"
    return f"{again if case.before else ''}{place}{corpus if named else ''}."


def _others(definition: Definition, case: Case) -> Iterator[dict[str, str]]:
    """Yield the other examples, which the table of results refers to."""
    for place, one in enumerate(definition.examples, 1):
        instance = one.documents()[-1]
        if instance != case.instance:
            named = f" (scenario {one.scenario})" if one.scenario else ""
            yield {"title": f"Example {place}{named}", "text": instance_json(instance)}


def _expected(case: Case) -> Iterator[str]:
    if case.expected is None:
        yield "There is no record of an answer to compare with."
        return
    optimum = case.expected.members
    if not case.cooperative:
        yield from held_table(optimum)
        return
    first, waits = _first_round(case.instance, optimum)
    yield "| member | first round | stable state |"
    yield "| --- | --- | --- |"
    for name in sorted(optimum):
        now, then = partitions_in_words(first[name]), partitions_in_words(optimum[name])
        yield f"| `{name}` | {now} | {then} |"
    if waits:
        yield f"| nobody | {partitions_in_words(waits)} (withheld) | – |"


def _first_round(
    instance: Document, optimum: Held
) -> tuple[dict[str, dict[str, list[int]]], dict[str, list[int]]]:
    """Return what members receive at once, and what another still has to revoke."""
    claimants: dict[tuple[str, int], set[str]] = {}
    for name, member in instance["members"].items():
        for topic, numbers in (member.get("owned") or {}).items():
            for number in numbers:
                claimants.setdefault((topic, number), set()).add(name)
    first: dict[str, dict[str, list[int]]] = {name: {} for name in optimum}
    waits: dict[str, list[int]] = {}
    for name, topics in optimum.items():
        for topic, number in ((t, n) for t, numbers in topics.items() for n in numbers):
            others = claimants.get((topic, number), set()) - {name}
            place = waits if others else first[name]
            place.setdefault(topic, []).append(number)
    return first, waits


def _certificate(case: Case) -> str:
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


def _actual(case: Case, trials: Sequence[Trial]) -> Iterator[str]:
    if case.spec is None:
        yield "No tested version shows it at present."
        return
    last = case.rounds[-1]
    rounds = f" in round {len(case.rounds)}" if len(case.rounds) > 1 else ""
    yield wrapped(
        f"`{case.spec}` returns {OUTCOMES[case.category or 'optimal']}{rounds}"
        f"{_because(case)}."
        if case.category not in {"hang", "crash", "error", "restless"}
        else f"`{case.spec}`: {OUTCOMES[case.category]}{rounds}{_because(case)}."
    )
    if last.members is not None:
        yield ""
        yield from held_table(last.members)
    shown = [one for one in trials if one.shows]
    if shown:
        yield ""
        yield "| assignor | example | outcome |"
        yield "| --- | ---: | --- |"
        for one in shown:
            yield f"| {one.spec} | {one.example + 1} | {one.category}{_reason(one)} |"


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
        return f", `{_one_line(case.reason)}`"
    if case.category == "needless-moves":
        return f", {case.needless_moves} more than the optimum"
    return ""


def _reason(trial: Trial) -> str:
    if trial.category == "hang":
        return ""
    reason = _one_line(trial.reason or trial.detail)
    return f": {reason}" if reason else ""


def _one_line(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    short = first if len(first) <= 200 else first[:199] + "…"
    return short.replace("|", "\\|").replace("`", "'")


def _repetition(case: Case) -> str:
    note = (
        "`fuzz` gives every rebalance a leader of its own, so that this finding is "
        "repeated by the project's own check of examples."
        if case.before
        else "`make clients` installs the clients; the exit code is 1 if the outcome "
        "repeats."
    )
    return f"In a checkout of this project: {note}"


def _commands(
    definition: Definition, case: Case, findings: Sequence[Finding]
) -> Iterator[str]:
    if case.before:
        yield f"python -m tools.findings --try {definition.id}"
    elif case.spec:
        require = " --require optimum" if case.category == "needless-moves" else ""
        file = f"docs/findings/instances/{definition.id}.jsonl"
        yield f"assignor-oracle fuzz --client {case.spec} --instances {file}{require}"
    else:
        yield f"python -m tools.findings --try {definition.id}"
    seen: set[str] = set()
    for one in findings:
        if one.seed is not None and one.subject.name not in seen and len(seen) < PLACES:
            seen.add(one.subject.name)
            yield one.command


def _reproducer(one: Reproducer) -> dict[str, Any]:
    record = one.record
    who = f"{record['client']}@{record['version']}/{record['assignor']}"
    state = (
        f"It was run on {record['date']} and shows the finding"
        if record["confirmed"]
        else f"It was run on {record['date']} and did **not** show the finding"
    )
    intro = (
        f"`{who}`, {record['language']}: [{record['file']}]({one.folder}/"
        f"{record['file']}) needs only the client and a test runner, fails while the "
        f"finding is there, and passes when it is repaired. {state}."
    )
    return {
        "intro": wrapped(intro),
        "record": record,
        "fence": one.fence,
        "text": one.text,
    }


def confirmed_in_words(confirmations: Sequence[dict[str, Any]]) -> str:
    """Return the strongest result with real consumers."""
    shown = [
        one for one in confirmations if one["confirmed"] and one["expected"] != NO_FAULT
    ]
    if any(one["members"] == ALL_REAL for one in shown):
        return "seen, all members real"
    if any(one["members"] == HANDED_OUT for one in shown):
        return "seen, claims handed out"
    if shown:
        return "seen, members crafted"
    return "tried, not seen" if confirmations else "–"


def _histories(confirmations: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a section per history; assignors that went through it share the section."""

    def key(one: dict[str, Any]) -> tuple[Any, ...]:
        return one["members"], one["cluster"], one["date"], tuple(one["history"])

    for _, group in groupby(sorted(confirmations, key=key), key=key):
        listed = list(group)
        first = listed[0]
        clients = ", ".join(sorted({one["client"] for one in listed}))
        rows = [
            f"| {one['client']} {one['version']} `{one['assignor']}` | {_seen(one)} | "
            f"{_one_line(one['outcome'])} |"
            for one in sorted(listed, key=lambda one: (one["client"], one["version"]))
        ]
        yield {
            "heading": f"{clients}: {first['members']}",
            "intro": wrapped(
                f"On {first['cluster']}, {first['date']}{_of_record(listed)}:"
            ),
            "history": [
                wrapped(f"{number}. {sentence}", indent="   ")
                for number, sentence in enumerate(first["history"], 1)
            ],
            "rows": ["| assignor | finding | outcome |", "| --- | --- | --- |", *rows],
        }


def _of_record(listed: Sequence[dict[str, Any]]) -> str:
    """Return which record has the rebalance that the group sees."""
    places = sorted({record_in_words(one) for one in listed if "record" in one})
    return f", the rebalance of the record {', '.join(places)}" if places else ""


def _seen(one: dict[str, Any]) -> str:
    if one["expected"] == NO_FAULT:
        return "not there, as expected" if one["confirmed"] else "there, unexpectedly"
    return "seen" if one["confirmed"] else "**not seen**"

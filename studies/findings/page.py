"""The page of one finding, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from conformance.findings import Definition, Trial
from conformance.runs import Finding
from oracle.wording import counted
from studies.findings.affected import affected_by, affected_in_words
from studies.findings.case import Case, alike
from studies.findings.evidence import Reproducer
from studies.findings.prose import OUTCOMES, instance_json, item, one_line, wrapped
from studies.findings.replays import record_in_words, replays_of
from studies.findings.report import command_lines, reports_of
from studies.findings.results import actual_lines, certificate_in_words, expected_lines
from studies.findings.upstream import notes_of, searched_in_words, status_in_words

LEGEND: Final = """
Gray cells are topics that the member reads. *kept* and *moved*: with a claimant, or
with somebody else; *new*: nobody claimed it; *waits*: withheld until it is revoked;
*× wrong*: violates a rule; dashed claims: the member does not subscribe to the topic
any more.
"""
PLACES: Final = 6
NEEDS: Final = {
    "C": "a C compiler, and librdkafka with its headers (`librdkafka/rdkafka.h` and "
    "`rdkafka_mock.h`, which a package of the library alone does not contain: "
    "`apt-get install librdkafka-dev`, `dnf install librdkafka-devel`, or "
    "`brew install librdkafka`; `pkg-config --modversion rdkafka` states the version, "
    "which can be older than the one named here)"
}
"""What a reproducer needs, by its language, if not only the client and a runner."""
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
    cases: Sequence[Case],
    reproducers: Sequence[Reproducer],
    confirmations: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Return the values of the template ``finding.md.j2``."""
    hit, clean = affected_by(trials, findings)
    lead, *others = alike(cases) or [(case,)]
    clients = [affected.client for affected in hit]
    spared = "; ".join(
        f"{affected.client} {', '.join(affected.spared)}"
        for affected in hit
        if affected.spared
    )
    return {
        "id": definition.id,
        "title": definition.title,
        "status": status_in_words(definition),
        "status_note": wrapped(definition.status_note),
        "notes": list(notes_of(definition)),
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
        "instance_intro": wrapped(_instance_intro(definition, case, lead)),
        "instances": [
            instance_json(instance) for instance in (*case.before, case.instance)
        ],
        "others": list(_others(definition, cases, case)),
        "provable": wrapped(definition.provable),
        "expected": list(expected_lines(case)),
        "certificate": wrapped(certificate_in_words(case)),
        "actual": [*actual_lines(case), *_table(trials)],
        "more": [_section(definition, group) for group in others],
        "repetition": wrapped(_repetition(case)),
        "commands": list(_commands(definition, cases, findings)),
        "reports": list(reports_of(definition, hit, cases, reproducers)),
        "reproducers": [_reproducer(reproducer) for reproducer in reproducers],
        "reachable": wrapped(definition.reachable),
        "is_tried": bool(confirmations),
        "confirmations": list(
            _histories(
                [
                    confirmation
                    for confirmation in confirmations
                    if not confirmation.get("way")
                ]
            )
        ),
        "replays": replays_of(confirmations),
        "searched": searched_in_words(definition, clients),
        "threads": [
            item(f"<{thread.url}>: {thread.says}.") for thread in definition.threads
        ],
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
    seen = {trial.category for trial in trials if trial.shows}
    seen |= {finding.category for finding in findings}
    words = [f"{OUTCOMES[name]} (`{name}`)" for name in OUTCOMES if name in seen]
    return "; ".join(words) or "not seen in the present records"


def _found_with(trials: Sequence[Trial], findings: Sequence[Finding]) -> str:
    dates = sorted({trial.date for trial in trials})
    oracle = sorted({trial.oracle for trial in trials})
    examples = f"examples tried on {', '.join(dates)} by version {', '.join(oracle)}"
    seeds = sorted({finding.seed for finding in findings if finding.seed is not None})
    families = sorted(
        {finding.family for finding in findings if finding.seed is not None}
    )
    if not families:
        return examples
    drawn = f"random families {', '.join(families)} (seed {', '.join(map(str, seeds))})"
    return f"{examples}; {drawn}"


def _instance_intro(
    definition: Definition, case: Case, group: Sequence[Case] = ()
) -> str:
    """Return which example it is, and which versions show it."""
    again = "The leader's assignor sees these rebalances one after the other. "
    first = again if case.before else ""
    if case.example is None and case.spec is not None:
        return "The smallest instance on record, shrunk from a random rebalance."
    number = case.example or 0
    count = len(definition.examples)
    named = definition.examples[number].scenario
    corpus = f", the scenario `{named}` of the [corpus](../conformance.md#corpus)"
    place = f"Example {number + 1} of {count}" if count > 1 else "The example"
    shown = ", ".join(
        owner_in_words(shown_case) for shown_case in group if shown_case.spec
    )
    by = f" Shown by {shown}." if shown else ""
    return f"{first}{place}{corpus if named else ''}.{by}"


def owner_in_words(case: Case) -> str:
    """Return ``sarama 1.61.1``."""
    return case.owner.replace("@", " ")


def instance_file(definition: Definition, cases: Sequence[Case], case: Case) -> str:
    """Return the name of the file with the instance of a case, in ``instances/``."""
    if not cases or case.example == cases[0].example or case.example is None:
        return f"{definition.id}.jsonl"
    return f"{definition.id}-{case.example + 1}.jsonl"


def _section(definition: Definition, group: Sequence[Case]) -> dict[str, Any]:
    """Return an instance that versions need which do not show the first one."""
    case = group[0]
    return {
        "heading": ", ".join(map(owner_in_words, group)),
        "intro": wrapped(_instance_intro(definition, case)),
        "instances": [
            instance_json(instance) for instance in (*case.before, case.instance)
        ],
        "expected": list(expected_lines(case)),
        "certificate": wrapped(certificate_in_words(case)),
        "actual": list(actual_lines(case)),
    }


def _others(
    definition: Definition, cases: Sequence[Case], case: Case
) -> Iterator[dict[str, str]]:
    """Yield the other examples, which the table of results refers to."""
    shown = [shown_case.instance for shown_case in (*cases, case)]
    for place, example in enumerate(definition.examples, 1):
        instance = example.documents()[-1]
        if instance not in shown:
            named = f" (scenario {example.scenario})" if example.scenario else ""
            yield {"title": f"Example {place}{named}", "text": instance_json(instance)}


def _table(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield a row per assignor and example that shows the finding."""
    shown = [trial for trial in trials if trial.shows]
    if shown:
        yield ""
        yield "| assignor | example | outcome |"
        yield "| --- | ---: | --- |"
        for trial in shown:
            yield (
                f"| {trial.spec} | {trial.example + 1} | "
                f"{trial.category}{_reason(trial)} |"
            )


def _reason(trial: Trial) -> str:
    if trial.category == "hang":
        return ""
    reason = one_line(trial.reason or trial.detail)
    return f": {reason}" if reason else ""


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
    definition: Definition, cases: Sequence[Case], findings: Sequence[Finding]
) -> Iterator[str]:
    """Yield a command per client and version, and those of records that were drawn."""
    if not cases or cases[0].before:
        yield f"python -m studies.findings --try {definition.id}"
    else:
        for case in cases:
            require = " --require optimum" if case.category == "needless-moves" else ""
            file = f"docs/findings/instances/{instance_file(definition, cases, case)}"
            yield (
                f"assignor-oracle fuzz --client {case.spec} --instances {file}{require}"
            )
    seen: set[str] = set()
    for finding in findings:
        if (
            finding.seed is not None
            and finding.subject.name not in seen
            and len(seen) < PLACES
        ):
            seen.add(finding.subject.name)
            yield finding.command


def _reproducer(reproducer: Reproducer) -> dict[str, Any]:
    record = reproducer.record
    who = f"{record['client']}@{record['version']}/{record['assignor']}"
    state = (
        f"It was run on {record['date']} and shows the finding"
        if record["confirmed"]
        else f"It was run on {record['date']} and did **not** show the finding"
    )
    needs = NEEDS.get(record["language"], "only the client and a test runner")
    intro = (
        f"`{who}`, {record['language']}: [{record['file']}]({reproducer.folder}/"
        f"{record['file']}) needs {needs}, fails while the "
        f"finding is there, and passes when it is repaired. {state}."
    )
    return {
        "intro": wrapped(intro),
        "command": command_lines(record["command"]),
    }


def confirmed_in_words(confirmations: Sequence[dict[str, Any]]) -> str:
    """Return the strongest result with real consumers."""
    shown = [
        confirmation
        for confirmation in confirmations
        if confirmation["confirmed"] and confirmation["expected"] != NO_FAULT
    ]
    if any(confirmation["members"] == ALL_REAL for confirmation in shown):
        return "seen, all members real"
    if any(confirmation["members"] == HANDED_OUT for confirmation in shown):
        return "seen, claims handed out"
    if shown:
        return "seen, members crafted"
    return "tried, not seen" if confirmations else "–"


def _histories(confirmations: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a section per history; assignors that went through it share the section."""

    def key(confirmation: dict[str, Any]) -> tuple[Any, ...]:
        return (
            confirmation["members"],
            confirmation["cluster"],
            confirmation["date"],
            tuple(confirmation["history"]),
        )

    for _, group in groupby(sorted(confirmations, key=key), key=key):
        listed = list(group)
        first = listed[0]
        clients = ", ".join(sorted({confirmation["client"] for confirmation in listed}))
        rows = [
            f"| {confirmation['client']} {confirmation['version']} "
            f"`{confirmation['assignor']}` | {_seen(confirmation)} | "
            f"{one_line(confirmation['outcome'])} |"
            for confirmation in sorted(
                listed,
                key=lambda confirmation: (
                    confirmation["client"],
                    confirmation["version"],
                ),
            )
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
    places = sorted(
        {
            record_in_words(confirmation)
            for confirmation in listed
            if "record" in confirmation
        }
    )
    return f", the rebalance of the record {', '.join(places)}" if places else ""


def _seen(confirmation: dict[str, Any]) -> str:
    if confirmation["expected"] == NO_FAULT:
        return (
            "not there, as expected"
            if confirmation["confirmed"]
            else "there, unexpectedly"
        )
    return "seen" if confirmation["confirmed"] else "**not seen**"

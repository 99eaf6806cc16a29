"""Reports for the trackers of clients, to be copied: one per finding and client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.findings import Definition
from studies.findings.affected import Affected
from studies.findings.case import Case
from studies.findings.evidence import Reproducer
from studies.findings.prose import instance_json, wrapped
from studies.findings.results import actual_lines, expected_lines

FENCE: Final = "````"
TRACKERS: Final[Mapping[str, str]] = {
    "aiokafka": "https://github.com/aio-libs/aiokafka/issues",
    "franz-go": "https://github.com/twmb/franz-go/issues",
    "kafka-clients": "https://issues.apache.org/jira/projects/KAFKA",
    "kafka-go": "https://github.com/segmentio/kafka-go/issues",
    "kafka-python": "https://github.com/dpkp/kafka-python/issues",
    "kafkajs": "https://github.com/tulios/kafkajs/issues",
    "librdkafka": "https://github.com/confluentinc/librdkafka/issues",
    "platformatic-kafka": "https://github.com/platformatic/kafka/issues",
    "sarama": "https://github.com/IBM/sarama/issues",
}
"""Where a client's issues are filed."""

NO_TEST: Final = """
No function of the public API calls the assignor, so that there is no test without a
group: an unmodified consumer has to lead one that has the members and claims below.
"""


def reports_of(
    definition: Definition,
    hit: Sequence[Affected],
    cases: Sequence[Case],
    reproducers: Sequence[Reproducer],
) -> Iterator[dict[str, Any]]:
    """Yield a report per client for which the finding is open."""
    for affected in hit:
        mine = [
            case for case in cases if case.owner.partition("@")[0] == affected.client
        ]
        if definition.status_of(affected.client) != "open" or not mine:
            continue
        tests = [
            test for test in reproducers if test.record["client"] == affected.client
        ]
        yield {
            "client": affected.client,
            "tracker": TRACKERS[affected.client],
            "lines": list(_report(definition, affected, mine[0], tests)),
        }


def _report(
    definition: Definition, affected: Affected, case: Case, tests: Sequence[Reproducer]
) -> Iterator[str]:
    names = list(
        dict.fromkeys(n for names in affected.assignors.values() for n in names)
    )
    assignors = ", ".join(f"`{name}`" for name in names)
    yield f"# {', '.join(names)}: {_lower(definition.title)}"
    yield ""
    yield wrapped(definition.summary)
    yield ""
    yield "## Versions"
    yield ""
    spared = f"; not in {', '.join(affected.spared)}" if affected.spared else ""
    yield f"{affected.client} {', '.join(affected.assignors)} ({assignors}){spared}."
    yield ""
    yield "## Minimal test"
    yield ""
    yield from _test(tests)
    yield "## The group, and what is expected"
    yield ""
    for document in (*case.before, case.instance):
        yield "```json"
        yield instance_json(document)
        yield "```"
        yield ""
    yield wrapped(definition.provable)
    yield ""
    yield from expected_lines(case)
    yield ""
    yield "## Actual result"
    yield ""
    yield from actual_lines(case)
    if repair := definition.repair_of(affected.client):
        yield ""
        yield "## Suggested fix"
        yield ""
        yield wrapped(repair.text)
        yield ""
        yield "```"
        yield repair.code.strip()
        yield "```"


def _test(tests: Sequence[Reproducer]) -> Iterator[str]:
    if not tests:
        yield wrapped(NO_TEST)
        yield ""
        return
    test = tests[0]
    yield f"`{test.record['file']}`, run by"
    yield ""
    yield "```sh"
    if test.modules:
        yield "go mod init reproducer &&"
        yield f"go get {' '.join(test.modules)} &&"
    yield from command_lines(test.record["command"])
    yield "```"
    yield ""
    yield f"```{test.fence}"
    yield test.text
    yield "```"
    yield ""
    yield "It fails with:"
    yield ""
    yield "```text"
    yield from _failure(test.record)
    yield "```"
    yield ""


def command_lines(command: str) -> list[str]:
    """Return a command with a line per part that ``&&`` joins."""
    parts = command.split(" && ")
    return [f"{part} &&" for part in parts[:-1]] + parts[-1:]


def _failure(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of the output that name the finding."""
    lines = [line.strip() for line in record["output"].splitlines()]
    named = [line for line in lines if "finding:" in line]
    return list(dict.fromkeys(named))[:2] or lines[:2]


def _lower(title: str) -> str:
    return title[0].lower() + title[1:]

"""All files of ``docs/findings/`` that are generated, rendered from ``templates/``."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from conformance.findings import (
    Definition,
    Trial,
    all_definitions,
    findings_by_definition,
    parse_trial,
    stored_records,
)
from conformance.runs import Finding
from oracle.wording import counted
from studies.findings import matrix
from studies.findings.evidence import confirmations_of, reproducers_of
from studies.findings.finding_facts import TRACKERS, FindingFacts, finding_facts
from studies.findings.index import IndexFacts
from studies.findings.markdown import (
    instance_json,
    one_line,
    partitions_text,
    wrapped,
)
from studies.findings.picture import picture_of

FOLDER: Final = "docs/findings"
TRIALS: Final = "trials.jsonl.gz"


def files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path from the root of the checkout and the text of each file.

    Raises
    ------
    OutsideError
        If a record cannot be read, or a stored finding of safety does not belong to any
        definition.
    """
    index = _index(root / FOLDER)
    yield f"{FOLDER}/README.md", render("index", index=index)
    for client in index.clients:
        page = render("client", client=client, index=index)
        yield f"{FOLDER}/clients/{client}.md", page
    for finding in index.findings:
        name = finding.definition.id
        yield f"{FOLDER}/{name}.md", render("finding", finding=finding)
        description = render("description", finding=finding).rstrip("\n")
        picture = picture_of(finding.case, description)
        yield f"{FOLDER}/pictures/{name}.svg", picture
        for case, *_ in finding.groups:
            if not case.before:
                line = orjson.dumps(case.instance).decode() + "\n"
                yield f"{FOLDER}/instances/{finding.instance_file(case)}", line


def render(template: str, **values: object) -> str:
    """Render a template as a Markdown file."""
    text = _environment().get_template(f"{template}.md.j2").render(values)
    return text.rstrip("\n") + "\n"


def read_trials(path: Path) -> tuple[Trial, ...]:
    """Read the stored trials; none if there is no file."""
    if not path.exists():
        return ()
    lines = gzip.decompress(path.read_bytes()).splitlines()
    return tuple(parse_trial(line) for line in lines)


def _index(folder: Path) -> IndexFacts:
    stored = stored_records(folder / "records")
    trials = read_trials(folder / TRIALS)
    records = findings_by_definition(stored.findings)
    return IndexFacts(
        stored=stored,
        trials=trials,
        findings=tuple(
            _finding(folder, definition, trials, records[definition.id])
            for definition in all_definitions()
        ),
    )


def _finding(
    folder: Path,
    definition: Definition,
    trials: Sequence[Trial],
    records: Sequence[Finding],
) -> FindingFacts:
    return finding_facts(
        definition,
        [trial for trial in trials if trial.finding == definition.id],
        records,
        reproducers=reproducers_of(folder, definition.id),
        confirmations=confirmations_of(folder, definition.id),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - Markdown of our own, no HTML from elsewhere
    )
    environment.filters |= {
        "wrapped": wrapped,
        "json": instance_json,
        "family": matrix.family_label,
        "one_line": one_line,
        "partitions": partitions_text,
    }
    environment.globals |= {"matrix": matrix, "counted": counted, "trackers": TRACKERS}
    return environment

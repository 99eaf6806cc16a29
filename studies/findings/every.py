"""All files of ``docs/findings/`` that are generated, and their content."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from conformance.findings import (
    Trial,
    all_definitions,
    findings_by_definition,
    parse_trial,
    stored_records,
)
from studies.findings.case import alike, case_of, cases_of
from studies.findings.evidence import confirmations_of, reproducers_of
from studies.findings.index import TEMPLATES, client_page, clients_in, index_context
from studies.findings.page import instance_file, page_context, told_of
from studies.findings.picture import picture_of

FOLDER: Final = "docs/findings"
TRIALS: Final = "trials.jsonl.gz"


def files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path from the root of the checkout and the text of each file.

    Raises
    ------
    UncoveredError
        If a stored finding of safety belongs to no definition.
    OutsideError
        If a record cannot be read.
    """
    folder = root / FOLDER
    stored = stored_records(folder / "records")
    trials = read_trials(folder / TRIALS)
    found = findings_by_definition(stored.findings)
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Markdown of our own, no HTML from elsewhere
    )
    for definition in all_definitions():
        mine = [trial for trial in trials if trial.finding == definition.id]
        findings = found[definition.id]
        case = case_of(definition, mine, findings)
        cases = cases_of(definition, mine)
        context = page_context(
            definition,
            case,
            mine,
            findings,
            cases=cases,
            reproducers=reproducers_of(folder, definition.id),
            confirmations=confirmations_of(folder, definition.id),
        )
        page = templates.get_template("finding.md.j2").render(context)
        yield f"{FOLDER}/{definition.id}.md", _normalized(page)
        yield (
            f"{FOLDER}/pictures/{definition.id}.svg",
            picture_of(case, told_of(definition, case)),
        )
        for first, *_ in alike(cases) or ((case,),):
            if not first.before:
                line = orjson.dumps(first.instance).decode() + "\n"
                yield (
                    f"{FOLDER}/instances/{instance_file(definition, cases, first)}",
                    line,
                )
    index = templates.get_template("index.md.j2")
    yield (
        f"{FOLDER}/README.md",
        _normalized(index.render(index_context(stored, trials, found, folder=folder))),
    )
    for client in clients_in(stored):
        text = client_page(client, stored, trials, found)
        yield f"{FOLDER}/clients/{client}.md", _normalized(text)


def read_trials(path: Path) -> tuple[Trial, ...]:
    """Read the stored trials; none if there is no file."""
    if not path.exists():
        return ()
    lines = gzip.decompress(path.read_bytes()).splitlines()
    return tuple(parse_trial(line) for line in lines)


def _normalized(text: str) -> str:
    """Join runs of empty lines outside of fences."""
    lines: list[str] = []
    is_code = False
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("```"):
            is_code = not is_code
        if line or is_code or (lines and lines[-1]):
            lines.append(line.rstrip() if not is_code else line)
    return "\n".join(lines).rstrip("\n") + "\n"

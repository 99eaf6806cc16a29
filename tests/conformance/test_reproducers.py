"""Reproducers: what is rendered, and that it fails, or passes, as it should.

The files in ``tests/data/reproducers`` are what is rendered of one case per client. A
client that is not installed is skipped in the quick tests, and fails in the others.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.clients import (
    ClientAssignor,
    all_client_assignors,
    client_assignor,
)
from conformance.findings import all_definitions
from conformance.reproducers import (
    NoReproducerError,
    ReproducerCase,
    case_of,
    confirm,
    read_record,
    record_of,
    render,
    write_reproducer,
)
from conformance.reproducers.literals import comment, go_owned, java_owned, text
from conformance.reproducers.write_all import write_definitions
from conformance.runs import Category, parse_finding
from tests.conformance.client_faults import (
    EARLY,
    ENDLESS,
    IDLE,
    MISSING,
    MIXED,
    OLDER,
    first_of,
)
from tests.support.librdkafka_headers import lacking_for_c
from tests.support.shapes import CHAIN, Document, member, rebalance

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "reproducers"
STORED = ROOT / "docs" / "findings" / "reproducers"
COMMITTED = sorted(path.parent for path in STORED.rglob("reproducer.json"))
PANIC = first_of("franz-go-4deed686")
RIVALS = first_of("kafka-15106-123")


def case(
    name: str, spec: str, category: Category, instance: Document, **more: Any
) -> ReproducerCase:
    """Return a case of a client's assignor."""
    one = client_assignor(spec)
    return ReproducerCase(
        name=name,
        title=f"A title of {name}",
        assignor=one,
        cooperative=one.cooperative,
        category=category,
        instance=instance,
        **more,
    )


PINNED = (
    case("key-error", "kafka-python@3.0.12/roundrobin", Category.ERROR, MIXED),
    case("endless", "kafka-python@2.3.3/sticky", Category.HANG, ENDLESS),
    case("endless", "aiokafka@0.14.0/sticky", Category.HANG, ENDLESS),
    case("panic", "franz-go@1.15.4/sticky", Category.CRASH, PANIC),
    case("rivals", "sarama@1.61.1/cooperative-sticky", Category.UNREVOKED, RIVALS),
    case("missing", "kafka-go@0.4.51/range", Category.INVALID, MISSING),
    case("idle", "kafka-clients@4.4.0/sticky", Category.INVALID, IDLE),
    case("chain", "group-coordinator@4.4.0/uniform", Category.UNBALANCED, CHAIN),
    case("leader", "kafkajs@2.2.4/roundrobin", Category.INVALID, MIXED),
    case(
        "older",
        "platformatic-kafka@2.12.1/cooperative-sticky",
        Category.UNREVOKED,
        OLDER,
    ),
)


@pytest.mark.parametrize("pinned", PINNED, ids=lambda pinned: pinned.assignor.client)
def test_rendering_is_pinned(pinned: ReproducerCase) -> None:
    rendered = render(pinned)
    place = GOLDEN / f"{pinned.name}-{pinned.assignor.client}.txt"
    assert rendered.files[rendered.file] == place.read_text(encoding="utf-8")
    assert rendered == render(pinned)


WITHOUT_A_TEST = {Category.SLOW, Category.NONDETERMINISTIC, Category.OPTIMAL}


@pytest.mark.parametrize(
    "assignor", all_client_assignors(), ids=lambda assignor: assignor.spec
)
def test_every_category_of_every_assignor_is_rendered(assignor: ClientAssignor) -> None:
    for category in set(Category) - WITHOUT_A_TEST:
        wanted = case("any", assignor.spec, category, EARLY)
        if assignor.kind == "wire":
            with pytest.raises(NoReproducerError, match="cannot be called"):
                render(wanted)
            continue
        if category is Category.RESTLESS:
            wanted = replace(wanted, cooperative=True)
        rendered = render(wanted)
        body = rendered.files[rendered.file]
        assert f"finding: {category.value}" in body
        assert re.search(r"[ \t]+$", body, re.MULTILINE) is None
        if rendered.language == "Python":
            ast.parse(body)


def test_names_cannot_leave_their_literal_or_comment() -> None:
    wicked = '"; */ \\u000a system("x"); //\n'
    assert json.loads(text(wicked)) == wicked
    assert "\n" not in text(wicked)
    assert comment(wicked).count("\n") == 0
    assert "*/" not in comment(wicked)
    assert "\\" not in comment(wicked)
    assert go_owned({"t": [0, 1]}) == 'map[string][]int32{"t": {0, 1}}'
    assert java_owned({str(n): [n] for n in range(11)}).startswith(
        "Map.ofEntries(Map.e"
    )


def test_only_kafka_clients_has_a_leader_that_remembers() -> None:
    spec = "sarama@1.61.1/sticky"
    with pytest.raises(NoReproducerError, match="remembers"):
        render(case("any", spec, Category.INVALID, IDLE, earlier=(IDLE,)))
    body = render(
        case("a", "kafka-clients/sticky", Category.INVALID, IDLE, earlier=(MIXED,))
    ).files["ATest.java"]
    assert 'BEFORE_1.put(\n        "b"' in body
    assert 'TOPICS_BEFORE_1.put("u", 1)' in body


def test_a_command_has_no_reproducer() -> None:
    page = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
    shown = re.findall(r"```json\n({.*?)```", page, re.DOTALL)
    (found,) = [document for document in shown if '"finding/1"' in document]
    finding = parse_finding(found)
    subject = finding.subject.model_copy(update={"client": None, "name": "./mine"})
    with pytest.raises(NoReproducerError, match="not a client"):
        case_of(finding.model_copy(update={"subject": subject}), name="any")


def test_a_folder_is_read_as_it_was_written(tmp_path: Path) -> None:
    rendered = render(PINNED[3])
    written = record_of(rendered, "there is no go", date="2026-11-23")
    write_reproducer(tmp_path, rendered, written)
    assert read_record(tmp_path) == written
    assert not written.confirmed
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"reproducer_test.go", "go.mod", "go.sum", "reproducer.json"}


@pytest.mark.parametrize(
    "folder", COMMITTED, ids=lambda folder: "-".join(folder.relative_to(STORED).parts)
)
def test_committed_reproducers_are_confirmed_and_current(folder: Path) -> None:
    record = read_record(folder)
    assert record.confirmed, record.output
    assert (record.finding, record.client) == folder.relative_to(STORED).parts[:2]
    assert record.finding in {definition.id for definition in all_definitions()}
    assert f"finding: {record.shows}" in record.output
    body = (folder / record.file).read_text(encoding="utf-8")
    assert f"{record.client} {record.version}" in body


def test_there_is_a_committed_reproducer_in_each_language() -> None:
    languages = {read_record(folder).language for folder in COMMITTED}
    assert languages == {"C", "Go", "Java", "JavaScript", "Python"}


def test_the_reproducer_in_c_says_what_it_needs() -> None:
    (folder,) = (path for path in COMMITTED if read_record(path).language == "C")
    page = (ROOT / "docs" / "findings" / "joiners-crash.md").read_text("utf-8")
    body = (folder / read_record(folder).file).read_text("utf-8")
    for document in (page, body, (ROOT / "docs" / "conformance.md").read_text("utf-8")):
        assert "apt-get install librdkafka-dev" in " ".join(document.split())


@pytest.mark.nightly
@pytest.mark.skipif(lacking_for_c() is not None, reason=str(lacking_for_c()))
def test_the_reproducer_in_c_shows_its_finding(tmp_path: Path) -> None:
    (folder,) = (path for path in COMMITTED if read_record(path).language == "C")
    record = read_record(folder)
    source = folder / record.file
    command = record.command.replace(record.file, shlex.quote(str(source)))
    ran = subprocess.run(  # noqa: S602 - the command of the record, as it is
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "finding: crash" in ran.stdout + ran.stderr


def test_a_missing_client_is_reported_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not passed over, and what is stored of it stays."""
    monkeypatch.setenv("ORACLE_CLIENTS", str(tmp_path / "clients"))
    stored = tmp_path / "roundrobin-key-error" / "kafka-python"
    stored.mkdir(parents=True)
    (written,) = write_definitions(
        tmp_path,
        names=["roundrobin-key-error"],
        clients=["kafka-python"],
        date="2026-11-26",
    )
    assert written.is_missing
    assert "missing: " in written.line
    assert stored.is_dir()


GOOD = rebalance({"t": 2}, {"a": member(["t"]), "b": member(["t"])})
RUNS = [
    pytest.param(PINNED[0], "shown", id="python"),
    pytest.param(PINNED[3], "shown", id="go"),
    pytest.param(PINNED[6], "shown", id="java"),
    pytest.param(PINNED[8], "shown", id="node"),
    pytest.param(
        replace(PINNED[8], instance=GOOD), "passed", id="node, rebalance without it"
    ),
]
"""One per language, and one without the fault."""

MORE_RUNS = [
    pytest.param(
        replace(PINNED[0], assignor=client_assignor("kafka-python@2.0.6/roundrobin")),
        "passed",
        id="python, version without the fault",
    ),
    pytest.param(PINNED[1], "shown", id="python hangs"),
    pytest.param(
        replace(PINNED[1], assignor=client_assignor("kafka-python@3.0.12/sticky")),
        "passed",
        id="python hangs, version without the fault",
    ),
    pytest.param(
        replace(PINNED[3], assignor=client_assignor("franz-go@1.22.2/sticky")),
        "passed",
        id="go, version without the fault",
    ),
    pytest.param(
        replace(PINNED[6], assignor=client_assignor("kafka-clients@4.4.0/range")),
        "passed",
        id="java, assignor without the fault",
    ),
    pytest.param(PINNED[9], "shown", id="node, cooperative"),
    pytest.param(
        replace(PINNED[8], category=Category.ERROR), "passed", id="node, no exception"
    ),
    pytest.param(
        replace(PINNED[0], category=Category.INVALID), "other", id="another reason"
    ),
]


@pytest.mark.heavy
@pytest.mark.parametrize(("case", "result"), RUNS)
def test_reproducers_fail_with_their_finding_only(
    case: ReproducerCase, result: str
) -> None:
    ran = confirm(render(case))
    assert ran.result == result, ran.output


@pytest.mark.nightly
@pytest.mark.parametrize(("case", "result"), MORE_RUNS)
def test_more_reproducers_fail_with_their_finding_only(
    case: ReproducerCase, result: str
) -> None:
    test_reproducers_fail_with_their_finding_only(case, result)


@pytest.mark.heavy
def test_a_test_that_is_no_program_confirms_nothing() -> None:
    for pinned in (PINNED[0], PINNED[3], PINNED[6], PINNED[8]):
        rendered = render(pinned)
        broken = {rendered.file: rendered.files[rendered.file] + "\n)\n"}
        ran = confirm(replace(rendered, files={**rendered.files, **broken}))
        assert ran.result == "other", ran.output


@pytest.mark.heavy
def test_a_test_without_an_end_is_late() -> None:
    assert confirm(render(PINNED[1]), seconds=2).result == "late"

"""The table of times to find is that of the record, and claims no more."""

from __future__ import annotations

from benchmarks.time_to_find import wanted
from benchmarks.time_to_find_table import BEGIN, END, PAGE, part, read_lines
from conformance.findings import definition
from conformance.runs import FAMILIES


def test_the_table_is_written_from_the_record() -> None:
    text = PAGE.read_text("utf-8")
    table = text.partition(f"{BEGIN}\n")[2].partition(END)[0]
    assert table == part(read_lines(), wanted())


def test_every_line_is_about_a_version_that_has_the_finding() -> None:
    every = wanted()
    for line in read_lines():
        assert line["finding"] in every[line["subject"]], line
        if line["found"]:
            assert line["family"] in FAMILIES
            assert line["seconds"] <= line["limit_s"] + 60


def test_the_search_is_for_the_newest_version_that_has_a_finding() -> None:
    every = wanted()
    assert "sticky-endless" in every["kafka-python@2.3.3"]
    assert "sticky-endless" not in every["kafka-python@3.0.12"]
    assert "double-claims-panic" in every["franz-go@1.15.4"]
    for subject, names in every.items():
        client = subject.partition("@")[0]
        for name in names:
            assert definition(name).status_of(client) in {"open", "fixed"}


def test_rows_state_what_was_not_found_and_what_was_not_run() -> None:
    about = {"finding": "sticky-endless", "limit_s": 600}
    found = about | {
        "subject": "a@1",
        "seed": 11,
        "found": True,
        "seconds": 61.4,
        "rebalances": 12345,
        "assignor": "sticky",
        "family": "shares",
        "index": 7,
    }
    missed = about | {"subject": "b@1", "seed": 11, "found": False}
    other = about | {"subject": "b@1", "seed": 1, "found": True, "seconds": 9.0}
    every = {name: ["sticky-endless"] for name in ("a@1", "b@1", "c@1")}
    table = part([found, missed, other], every)
    _, _, first, second, third = table.splitlines()
    link = "[sticky-endless](findings/sticky-endless.md)"
    assert first == (
        f"| a@1 | {link} | 61 | 600 | 12,345 | sticky: `shares`, 7 | not run | – |"
    )
    assert second == f"| b@1 | {link} | not found | 600 | – | – | 1 of 1 | 9 |"
    assert third == f"| c@1 | {link} | not run | – | – | – | not run | – |"

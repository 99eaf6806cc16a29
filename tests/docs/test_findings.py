"""The pages of findings equal what `studies.findings` makes of the records."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from conformance.findings import Definition, all_definitions
from studies.findings import files
from studies.findings.__main__ import GENERATED
from studies.findings.markdown import partitions_text, wrapped
from studies.findings.matrix import percent

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "findings"


@cache
def made() -> dict[str, str]:
    return dict(files(ROOT))


@pytest.mark.heavy
def test_committed_files_equal_the_generated_ones() -> None:
    for path, text in made().items():
        stored = (ROOT / path).read_text(encoding="utf-8")
        assert stored == text, f"{path}: run `make findings`"


@pytest.mark.heavy
def test_no_other_files_are_left() -> None:
    kept = {
        path.relative_to(ROOT).as_posix()
        for pattern in GENERATED
        for path in FOLDER.glob(pattern)
    }
    assert kept == set(made())


@pytest.mark.heavy
def test_every_finding_is_listed_and_shows_its_picture() -> None:
    index = made()["docs/findings/README.md"]
    for definition in all_definitions():
        assert f"]({definition.id}.md)" in index
        page = made()[f"docs/findings/{definition.id}.md"]
        assert f"](pictures/{definition.id}.svg)" in page
        assert f"\n| status | {definition.status.replace('-', ' ')}" in page
        assert all(f"**{own.client}: " in page for own in definition.statuses)
        assert f"searched on {definition.searched.date}" in page.replace("\n", " ")
        assert all(thread.url in page for thread in definition.threads)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "definition", all_definitions(), ids=lambda definition: definition.id
)
def test_pictures_can_be_read_in_the_dark(definition: Definition) -> None:
    svg = made()[f"docs/findings/pictures/{definition.id}.svg"]
    assert "prefers-color-scheme:dark" in svg
    assert re.search(r"<title>[^<]+</title>", svg)


def test_shares_are_never_rounded_to_all_or_nothing() -> None:
    assert percent(0, 0) == "–"
    assert percent(0, 9) == "0"
    assert percent(9, 9) == "100"
    assert percent(99_999, 100_000) == "99.9"
    assert percent(1, 100_000) == "0.1"
    assert percent(1, 3) == "33.3"


def test_paragraphs_and_items_wrap() -> None:
    long = "word " * 40
    text = wrapped(f"{long}\n\n\nnext\n")
    assert max(map(len, text.splitlines())) <= 100
    assert text.endswith("\n\nnext")
    first, second, *_ = wrapped(f"- {long}\n- {long}").splitlines()
    assert first.startswith("- word")
    assert second.startswith("  word")
    assert wrapped(f"12. {long}").splitlines()[1].startswith("    word")


def test_tables_and_code_do_not_wrap() -> None:
    long = "word " * 40
    for block in (
        f"| {long} |\n| --- |",
        f"# {long}x",
        f"![{long}](x.svg)",
        f"```\n{long}\n\n\n- x\n```",
        f"````\n```sh\n{long}\n```\n\n{long}\n````",
    ):
        assert wrapped(f"\n\n{block}\n\n\nnext\n") == f"{block}\n\nnext"


def test_partitions_text() -> None:
    assert partitions_text({"u": [4], "t": [0, 2, 1, 5]}) == "t: 0–2, 5; u: 4"
    assert partitions_text({"t": []}) == "–"

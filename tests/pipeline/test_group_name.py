"""``--group-name``: the group of describe tables that have no column GROUP."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.groups import group_source, read_group
from pipeline.sources.find import find_sources
from rebalance import SourceError
from tests.oracle.report.histories import audit_of
from tests.pipeline.local_reading import read_path
from tests.pipeline.test_sources import LOG, jsonl

HEADING = "TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
UNNAMED = f"{HEADING}\nt 0 1 3 2 c-1 /10.0.0.1 c\n"
"""As Kafka 2.3 prints it, but for the widths."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two describe texts and records."""
    made = tmp_path / "history"
    made.mkdir()
    (made / "old.txt").write_text(UNNAMED)
    (made / "older.txt").write_text(UNNAMED)
    (made / "records.jsonl").write_text(jsonl(LOG.records))
    return made


def test_one_group_of_a_source_is_read_with_the_name(folder: Path) -> None:
    """Without it, the texts are of no group; the records have names of their own."""
    groups = {row["group_id"] for row in read_path(folder, group_name="told")}
    assert groups == {row["group_id"] for row in read_path(folder)} - {None} | {"told"}
    found = read_group(str(folder), "told", group_name="told")
    assert found.rebalance.members.keys() == {"c-1"}


def test_only_describe_texts_have_the_name(folder: Path) -> None:
    found = find_sources([folder], group_name="orders")
    assert {file.name.split("/")[1]: file.group_name for file in found.files} == {
        "old.txt": "orders",
        "older.txt": "orders",
        "records.jsonl": None,
    }
    assert all(file.group_name is None for file in find_sources([folder]).files)


def test_a_name_that_cannot_apply_is_code_2(folder: Path, tmp_path: Path) -> None:
    records = folder / "records.jsonl"
    audited = audit_of([records], tmp_path / "audit")
    wrong = {
        (str(folder), ""): "--group-name: a group needs a name",
        (str(records), "g"): "--group-name: names the group of describe texts, and no",
        (str(audited), "g"): "the folder of an audit states the names of its groups",
        ("h:1,i:2", "g"): "a running cluster states the names of its groups",
    }
    for (source, name), reason in wrong.items():
        with pytest.raises(SourceError, match=reason) as caught:
            group_source(source, group_name=name).groups()
        assert caught.value.exit_code == 2


def test_an_old_table_is_read_from_end_to_end(tmp_path: Path) -> None:
    """The only group is the one that is named, so it need not be asked for."""
    (tmp_path / "old.txt").write_text(UNNAMED)
    found = read_group(str(tmp_path), None, group_name="orders")
    assert found.rebalance.group == "orders"
    assert found.assignment is not None
    assert found.assignment.members == {"c-1": {"t": [0]}}
    with pytest.raises(SourceError, match=r"old.txt:2: .* --group-name"):
        read_group(str(tmp_path), None)

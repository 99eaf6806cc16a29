"""``fuzz --reproducers``: one folder per recorded finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.reproducers import read_record
from oracle.cli import run


@pytest.mark.heavy
def test_every_recorded_finding_has_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = ["--client", "kafka-python@3.0.12/roundrobin", "--family", "fresh"]
    options = ["--count", "20", "--json", "--reproducers", str(tmp_path)]
    assert run(["fuzz", *client, *options]) == 1
    records = [read_record(folder) for folder in tmp_path.iterdir()]
    assert "error" in {record.shows for record in records}
    assert all(record.confirmed for record in records), records
    said = capsys.readouterr().err.splitlines()
    assert len([line for line in said if line.endswith(": confirmed")]) == len(records)

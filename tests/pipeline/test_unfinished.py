"""The folder of an unfinished audit: what counts as finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.audit.fingerprint import fingerprint
from pipeline.files import LocalStore, uri_of
from pipeline.sources.find import find_sources
from pipeline.unfinished import Unfinished
from tests.pipeline.audit_files import log_of
from tests.pipeline.cluster_facts import facts as given


@pytest.fixture
def work(tmp_path: Path) -> Unfinished:
    (tmp_path / "work").mkdir()
    return Unfinished(uri_of(tmp_path / "work"), LocalStore())


def put(work: Unfinished, folder: str, *names: str) -> None:
    for name in names:
        path = Path(folder.removeprefix("file:")) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")


def names_of(files: list[str]) -> list[str]:
    return [name.rsplit("/", 1)[-1] for name in files]


def test_cases_count_once_they_are_complete(work: Unfinished) -> None:
    assert (work.is_begun, work.cases(), work.size) == (False, None, 0)
    cases = work.new_cases()
    put(work, cases, "part-0.parquet")
    assert (work.is_begun, work.cases(), work.size) == (False, None, 5)
    again = work.new_cases()
    assert again != cases
    assert work.size == 0
    put(work, again, "part-0.parquet")
    work.finish(again.rsplit("/", 1)[-1])
    assert (work.is_begun, work.cases()) == (True, again)
    assert work.tables() == set()


def test_each_run_judges_into_a_folder_of_its_own(work: Unfinished) -> None:
    cases = work.new_cases()
    put(work, cases, "part-0.parquet")
    work.finish(cases.rsplit("/", 1)[-1])
    first = work.new_judged()
    # A task that was killed, one that was not, and Hadoop's checksum.
    put(work, first, "_temporary/0/attempt/a.parquet", "b.parquet", ".b.parquet.crc")
    second = work.new_judged()
    put(work, second, "c.parquet")
    assert names_of(work.judged_files()) == ["b.parquet", "c.parquet"]
    assert names_of(work.files(second)) == ["c.parquet"]
    # Judged parts of other cases do not count.
    put(work, f"{work.folder}/judged-00000000-1", "d.parquet")
    assert names_of(work.judged_files()) == ["b.parquet", "c.parquet"]


def test_a_table_counts_once_it_is_complete(work: Unfinished) -> None:
    put(work, f"{work.folder}/answers", "part-0.parquet")
    put(work, f"{work.folder}/members", "part-0.parquet")
    work.finish("members")
    work.finish("episodes")  # complete, and then moved away
    assert work.tables() == {"members"}


def test_another_request_has_another_name(tmp_path: Path) -> None:
    log = log_of(tmp_path, 3)
    facts, options = given({"t": 2}), {"cluster": "x"}
    name = fingerprint(find_sources([log]), facts, options)
    assert fingerprint(find_sources([log]), facts, options) == name
    others = {
        fingerprint(find_sources([log]), given({"t": 3}), options),
        fingerprint(find_sources([log]), facts, options | {"cluster": "y"}),
        fingerprint(find_sources([log, log_of(tmp_path, 2)]), facts, options),
    }
    text = log.read_bytes()
    log.write_bytes(text.replace(b"170", b"171"))
    others.add(fingerprint(find_sources([log]), facts, options))
    assert len(others - {name}) == 4

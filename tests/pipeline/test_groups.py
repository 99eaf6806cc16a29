"""One group from any source: an audit's folder and the sources themselves agree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from oracle.report import page_of
from pipeline.groups import choose, group_source, live_group, near_names, read_group
from pipeline.groups.audit_folder import AuditFolder
from pipeline.groups.moments import runs_of
from pipeline.live import NO_SUCH_GROUP, ClientSettings, ClusterState
from pipeline.live.cluster_state import Unreported
from rebalance import SourceError, plain_of
from tests.oracle.report.histories import audit_of
from tests.pipeline.describe.describe_text import members, state
from tests.pipeline.groups import Log, commit, group, member
from tests.pipeline.live.test_snapshots import cluster
from tests.pipeline.live.test_snapshots import member as live_member
from tests.pipeline.test_sources import jsonl

Assigned = dict[str, dict[str, tuple[int, ...]]]
BEFORE: Assigned = {"c0": {"t": (0, 1, 2)}}
AFTER: Assigned = {"c0": {"t": (0, 1)}, "c1": {"t": (2,)}}


def history(name: str = "orders", first: int = 1) -> Log:
    """Return two generations: one member, then two."""
    log = Log()
    for number, held in enumerate((BEFORE, AFTER), start=first):
        people = [member(member_id, ["t"], held[member_id]) for member_id in held]
        log.add(group(number, *people, group_id=name, assignor="range"))
    return log


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder with records of two groups and the text of a third."""
    folder = tmp_path / "sources"
    folder.mkdir()
    log = history().add(commit("t", 3, 7))
    for record in history("orders-eu", 5).records:
        log.records.append(record | {"offset": len(log.records)})
    (folder / "records.jsonl").write_text(jsonl(log.records))
    text = members(("m0", 2, "t:0,1"), ("m1", 1, "t:2"), group="told")
    (folder / "all.txt").write_text(text + state("Stable", 2, group="told"))
    return folder


@pytest.fixture
def folders(sources: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return the sources, and the folder of their audit."""
    return sources, audit_of([sources], tmp_path / "audit")


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("orders", None),
        ("orders", 1),
        ("orders", 2),
        ("orders-eu", 6),
        ("told", None),
    ],
)
def test_an_audit_and_its_sources_yield_the_same(
    folders: tuple[Path, Path], name: str, generation: int | None
) -> None:
    direct, audited = (read_group(str(folder), name, generation) for folder in folders)
    assert plain_of(direct.rebalance) == plain_of(audited.rebalance)
    assert direct.assignment is not None
    assert audited.assignment is not None
    assert direct.assignment.members == audited.assignment.members
    assert (direct.notes, direct.cooperative) == (audited.notes, audited.cooperative)


def test_the_last_rebalance_is_chosen_and_named(folders: tuple[Path, Path]) -> None:
    for folder in folders:
        found = read_group(str(folder), "orders")
        assert set(found.rebalance.members) == {"c0", "c1"}
        assert found.rebalance.topics["t"].partitions == 3  # a fourth came later
        assert found.rebalance.members["c0"].owned == {"t": [0, 1, 2]}
        assert found.notes[0] == (
            "group 'orders': the last of 2 rebalances, generation 2, "
            "2023-11-14 22:13:21 UTC"
        )
        assert "lower bounds" in found.notes[1]


def test_members_of_a_snapshot_own_what_they_hold(folders: tuple[Path, Path]) -> None:
    for folder in folders:
        found = read_group(str(folder), "told")
        assert found.rebalance.members["m0"].owned == {"t": [0, 1]}
        assert found.rebalance.members["m1"].owned == {"t": [2]}
        assert any("states no subscriptions" in note for note in found.notes)


@pytest.mark.parametrize(
    ("name", "generation", "reason"),
    [
        (
            "oders",
            None,
            "no group 'oders'; near names: orders, orders-eu",
        ),
        ("zzz", None, "no group 'zzz'; there are: orders, orders-eu, told"),
        (
            None,
            None,
            "has 3 groups, name one by --group: orders, orders-eu, told",
        ),
        ("orders", 9, "group 'orders' has no generation 9; it has 1 to 2"),
        ("told", 9, "group 'told' has snapshots only, without generations"),
    ],
)
def test_what_does_not_exist_is_named(
    folders: tuple[Path, Path], name: str | None, generation: int | None, reason: str
) -> None:
    for folder in folders:
        with pytest.raises(SourceError) as caught:
            read_group(str(folder), name, generation)
        assert str(caught.value) == f"{folder}: {reason}"
        assert caught.value.exit_code == 2


def test_many_generations_are_listed_in_runs() -> None:
    assert runs_of([3, 1, 2, 7]) == "1 to 3, 7"
    assert runs_of(range(0, 100, 2)) == "0, 2, 4, 6, 8, …, 90, 92, 94, 96, 98"


def test_names_are_near_by_letters_case_and_parts() -> None:
    known = ["Orders", "billing", "eu-orders-v2", "x"]
    assert near_names("orders", known) == ["Orders", "eu-orders-v2"]
    assert near_names("billlng", known) == ["billing"]
    assert near_names("qqq", known) == []


def test_a_generation_that_occurs_twice_is_the_later_one(tmp_path: Path) -> None:
    """A group that was deleted and created again begins anew."""
    log = history()
    for record in history().records:
        log.records.append(record | {"offset": len(log.records)})
    source = tmp_path / "records.jsonl"
    source.write_text(jsonl(log.records))
    found = group_source(str(source))
    assert len(found.moments("orders")) > 2
    last = [moment for moment in found.moments("orders") if moment.generation == 2][-1]
    expected = replace(found.read(last), generation=2, at=last.at)
    assert choose(found, "orders", 2) == expected


def test_a_document_needs_no_group(tmp_path: Path) -> None:
    chain = Path("docs/examples/chain.json")
    found = read_group(str(chain))
    assert (found.rebalance.group, found.assignment) == ("chain", None)
    with pytest.raises(SourceError, match="state no generation"):
        read_group(str(chain), "chain", 1)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("nowhere/at-all", "no such file or folder"),
        ("s3a://bucket/records", "not on this machine: audit it, and pass the folder"),
    ],
)
def test_a_source_that_cannot_be_read_is_named(source: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as caught:
        read_group(source, "g")
    assert str(caught.value).startswith(source)


def test_a_damaged_audit_is_an_error(folders: tuple[Path, Path]) -> None:
    _, audited = folders
    for file in (audited / "rebalances").rglob("*.parquet"):
        file.write_bytes(b"PAR1 this is none")
    with pytest.raises(SourceError, match="no table of an audit"):
        read_group(str(audited), "orders")


def test_a_quarantined_group_names_the_reason(tmp_path: Path) -> None:
    log = Log().add(
        group(1, member("c", ["t"], {"t": (0,)}), group_id="c", protocol_type="connect")
    )
    source = tmp_path / "records.jsonl"
    source.write_text(jsonl(log.add(*[]).records))
    said = "group 'c' cannot be judged: records.jsonl, partition 0, offset 0: "
    with pytest.raises(SourceError, match=said):
        read_group(str(source), "c")


REFUSED = "".join(
    members((f"{name}-1", 1, held), group=name) + state("Stable", 1, group=name)
    for name, held in (("far", "t(131072)"), ("odd", "t(x)"), ("few", "t;0"))
)
"""Three groups, each of which is refused for a reason of its own."""


def refused(source: Path | str, group: str | None = None) -> str:
    with pytest.raises(SourceError) as caught:
        read_group(str(source), group)
    assert caught.value.exit_code == 2
    text = str(caught.value)
    assert text.startswith(f"{source}: ")
    return text.removeprefix(f"{source}: ")


def test_a_source_without_a_group_says_why(tmp_path: Path) -> None:
    """As the table quarantine of an audit says it, one reason each."""
    source = tmp_path / "all.txt"
    source.write_text(REFUSED)
    audited = audit_of([source], tmp_path / "audit")
    quarantine = AuditFolder(folder=audited).rows("quarantine", None, ("reason",))
    reasons = [row["reason"] for row in quarantine]
    assert len(reasons) == 3
    for path in (source, audited):
        said = refused(path)
        start = "has no group that can be judged: all.txt:"
        assert said.startswith(start)
        assert len(said.removeprefix(start).split("; all.txt:")) == 3
        assert all(reason.split(": ", 1)[-1] in said for reason in reasons)
        named = refused(path, "far")
        assert named.startswith("group 'far' cannot be judged: all.txt:3: ")
        assert "odd" not in named
        other = refused(path, "absent")
        start = "no group 'absent', nor any other group that can be read: all.txt:3: "
        assert other.startswith(start)


def test_three_reasons_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    source = tmp_path / "all"
    source.mkdir()
    (source / "a.txt").write_text(REFUSED)
    (source / "b.txt").write_text("noise\nnoise\n" + members(("a", 1, "?"), group="x"))
    (source / "c.bin").write_bytes(b"GIF89a")
    said = refused(source)
    assert said.count("all/a.txt:") == 3
    assert said.endswith("; and 3 more reasons")
    (source / "a.txt").unlink()
    said = refused(source)
    assert ": all/b.txt:1: " in said
    assert "; all/c.bin: unknown format, starting 'GIF89a'" in said
    assert "more" not in said
    (source / "a.txt").write_text(state("Stable", 1, group="y"))
    assert refused(source).endswith("; and 1 more reason")


def test_a_group_that_is_refused_beside_others_says_why(
    sources: Path, tmp_path: Path
) -> None:
    (sources / "refused.txt").write_text(REFUSED)
    for path in (sources, audit_of([sources], tmp_path / "audit")):
        said = refused(path, "odd")
        assert said.startswith("group 'odd' cannot be judged: sources/refused.txt:")
        assert ";" not in said
        there = "no group 'absent'; there are: orders, orders-eu, told"
        assert refused(path, "absent") == there


@pytest.mark.heavy
def test_reading_one_group_imports_no_spark(folders: tuple[Path, Path]) -> None:
    script = (
        "import sys; from pipeline.groups import read_group;"
        "[read_group(one, 'orders') for one in sys.argv[1:]];"
        "sys.exit('pyspark' in sys.modules)"
    )
    command = [sys.executable, "-c", script, *map(str, folders)]
    subprocess.run(command, check=True)


def test_the_group_is_requested_from_a_running_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reaches into `pipeline.groups.live_group` to replace the cluster."""
    requested: list[Sequence[str]] = []

    def read(
        server: str, settings: ClientSettings, *, groups: Sequence[str] = ()
    ) -> ClusterState:
        assert (server, settings) == ("h:1,i:2", ClientSettings())
        requested.append(groups)
        if groups == ["orders"]:
            return replace(cluster(held), notes=("offsets",))
        if not groups:
            return cluster(held)
        reason = NO_SUCH_GROUP if groups == ["order"] else "it is empty"
        unreported = Unreported(group_id=groups[0], reason=reason)
        return ClusterState(groups=(), topics={}, unreported=(unreported,))

    held = live_member("m1", held={"orders": [0]}, target={"orders": [0]})
    monkeypatch.setattr(live_group, "read_cluster", read)
    found = read_group("h:1,i:2", "orders")
    assert found.rebalance.members["m1"].owned == {"orders": [0]}
    assert found.assignment is not None
    assert found.assignment.members == {"m1": {"orders": [0]}}
    assert found.notes == ("no lag without offsets",)
    assert requested == [["orders"]]
    with pytest.raises(SourceError, match="no group 'order'; there are: g"):
        read_group("h:1,i:2", "order")
    with pytest.raises(SourceError, match="h:1,i:2: group 'empty': it is empty"):
        read_group("h:1,i:2", "empty")
    with pytest.raises(SourceError, match="has snapshots only, without generations"):
        read_group("h:1,i:2", "orders", 4)


@pytest.mark.parametrize(
    ("written", "said"), [("tables/5", "tables/5"), (None, "unknown")]
)
def test_tables_of_another_version_are_refused(
    sources: Path, tmp_path: Path, written: str | None, said: str
) -> None:
    folder = audit_of([sources], tmp_path / "audit")
    manifest = json.loads((folder / "audit.json").read_bytes())
    manifest["tables"] = written
    (folder / "audit.json").write_text(json.dumps(manifest))
    for read in (partial(read_group, str(folder), "orders"), partial(page_of, folder)):
        with pytest.raises(SourceError, match=f"tables of version {said}, but"):
            read()

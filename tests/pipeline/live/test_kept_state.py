"""What a follower keeps: the cluster's identity, and batches that belong together."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.files import LocalStore
from pipeline.following.batch_ranges import BatchRange
from pipeline.following.kept_state import KeptState
from pipeline.live import ClusterIdentity
from rebalance import OutputError

FIRST = ClusterIdentity(cluster="A", topic="id:1")


def state(folder: Path) -> KeptState:
    return KeptState(f"file:{folder}", LocalStore())


def files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def test_the_same_cluster_is_followed_again(tmp_path: Path) -> None:
    state(tmp_path / "out").check_cluster(FIRST, "b:9092")
    state(tmp_path / "out").check_cluster(FIRST, "another-name:9092")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["following.json"]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (
            ClusterIdentity(cluster="B", topic="id:1"),
            r"follows cluster A \(b:9092\); c:9092 is cluster B; follow into another",
        ),
        (
            ClusterIdentity(cluster="A", topic="id:2"),
            r"deleted and created again \(topic id:1 is now id:2\); follow into",
        ),
    ],
)
def test_another_cluster_or_topic_is_refused(
    tmp_path: Path, found: ClusterIdentity, reason: str
) -> None:
    state(tmp_path).check_cluster(FIRST, "b:9092")
    with pytest.raises(OutputError, match=reason) as raised:
        state(tmp_path).check_cluster(found, "c:9092")
    assert str(raised.value).startswith(f"{tmp_path}: ")
    state(tmp_path).check_cluster(FIRST, "b:9092")  # it is still that of before


def test_a_topic_id_is_noted_when_brokers_have_one(tmp_path: Path) -> None:
    old = ClusterIdentity(cluster="A", topic=None)
    state(tmp_path).check_cluster(old, "b:9092")
    state(tmp_path).check_cluster(FIRST, "b:9092")
    state(tmp_path).check_cluster(old, "b:9092")
    with pytest.raises(OutputError, match="id:2"):
        state(tmp_path).check_cluster(ClusterIdentity(cluster="A", topic="id:2"), "b")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "audit/1"}'])
def test_a_file_that_is_not_ours_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "following.json").write_text(text)
    with pytest.raises(OutputError, match=r"following\.json: not following/1"):
        state(tmp_path).check_cluster(FIRST, "b:9092")


@pytest.mark.parametrize(
    ("names", "count"),
    [
        ([], 0),
        (["checkpoint/metadata", "records/.0-abc/_temporary/0/x"], 0),
        (["checkpoint/metadata", "records/batch=0/a", "records/.0-abc/a"], 0),
        (["checkpoint/commits/0", "records/batch=0/_SUCCESS"], 1),
        (
            [
                *("checkpoint/commits/1", "checkpoint/commits/.1.crc"),
                *("checkpoint/offsets/2", "records/batch=0/a", "records/batch=1/a"),
                "records/batch=2/a",
            ],
            2,
        ),
        (
            [
                *("checkpoint/commits/16", "records/batches=0-15/a"),
                *("records/_merged/batches=0-15/x", "records/batch=16/a"),
            ],
            17,
        ),
        (
            [
                *("checkpoint/commits/15", "records/batches=0-15/a"),
                *("records/_merged/batches=0-15/x", "records/batch=7/a"),
            ],
            16,
        ),
    ],
    ids=[
        *("nothing", "in the first batch", "after it", "one batch", "after the third"),
        *("merged", "merged, and what it replaces"),
    ],
)
def test_committed_batches_are_counted(
    tmp_path: Path, names: list[str], count: int
) -> None:
    files(tmp_path, *names)
    assert state(tmp_path).check_batches() == count


@pytest.mark.parametrize(
    "names",
    [
        ["records/batch=0/a", "records/batch=1/a"],
        ["checkpoint/commits/0"],
        ["checkpoint/commits/1", "records/batch=1/a"],
        ["checkpoint/commits/0", "records/batch=0/a", "records/batch=2/a"],
        ["checkpoint/commits/15", "records/batches=0-15/a"],
        ["checkpoint/commits/15", "records/_merged/batches=0-15/x"],
    ],
    ids=[
        *("no checkpoint", "no records", "a batch is missing", "a batch too many"),
        *("no note", "only a note"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    tmp_path: Path, names: list[str]
) -> None:
    files(tmp_path, *names)
    with pytest.raises(OutputError, match="records and checkpoint do not belong"):
        state(tmp_path).check_batches()


def test_a_batch_is_replaced_as_a_whole(tmp_path: Path) -> None:
    kept, batch = state(tmp_path).batches, BatchRange(0, 0)
    for name in ("first", "second"):
        temporary_folder = kept.temporary_folder(batch)
        files(Path(temporary_folder.removeprefix("file:")), name)
        kept.place(temporary_folder, batch)
    files(tmp_path, "records/.0-abc/_temporary/x", "records/batch=1/a")
    kept.clear()
    found = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*/*/*"))
    assert [str(path) for path in found] == [
        "records/batch=0/second",
        "records/batch=1/a",
    ]

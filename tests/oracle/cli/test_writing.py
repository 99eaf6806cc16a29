"""Files are written completely or not at all; until then, the old file remains."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracle.writing import OutputWriter, ReaderLeftError, replacing
from rebalance import OutputError, SourceError


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "x"
    with replacing(target) as writer:
        writer.write(b"one ")
        assert not target.exists()
        writer.write(b"two")
    assert target.read_bytes() == b"one two"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [SourceError("x", source="y"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_previous_file(
    tmp_path: Path, error: BaseException
) -> None:
    target = tmp_path / "x"
    target.write_text("old")

    def fail() -> None:
        with replacing(target) as writer:
            writer.write(b"new")
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert caught.value is error
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_gets_the_usual_rights(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    with replacing(tmp_path / "x") as writer:
        writer.write(b"x")
    assert (tmp_path / "x").stat().st_mode == plain.stat().st_mode


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def write(self, _: bytes) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error


def test_errors_name_the_place() -> None:
    full = OutputWriter(Failing(OSError(28, "No space left on device")), "there")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="there: cannot write: no space left"):
        full.write(b"x")
    left = OutputWriter(Failing(BrokenPipeError()), "there")  # type: ignore[arg-type]
    with pytest.raises(ReaderLeftError):
        left.write(b"x")


def test_a_full_disk_is_noticed_at_the_end_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "x"

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with (
        pytest.raises(OutputError, match="no space left"),
        replacing(target) as writer,
    ):
        writer.write(b"new")
    assert list(tmp_path.iterdir()) == []

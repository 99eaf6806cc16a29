"""What other users could have written is neither loaded nor executed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from rebalance import private_folder


@pytest.fixture
def expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"assignor-oracle-{os.geteuid()}"


def test_it_is_the_same_each_time_and_this_users_alone(expected: Path) -> None:
    assert private_folder() == private_folder() == expected
    assert expected.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_others_can_write_to_it(expected: Path, mode: int) -> None:
    expected.mkdir()
    expected.chmod(mode)
    with pytest.raises(PermissionError, match=f"write to {expected}"):
        private_folder()


def test_it_is_a_link(expected: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    expected.symlink_to("elsewhere")
    with pytest.raises(PermissionError):
        private_folder()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_it_belongs_to_another_user(expected: Path) -> None:
    expected.mkdir(mode=0o700)
    os.chown(expected, 65534, -1)
    with pytest.raises(PermissionError):
        private_folder()


def test_there_is_no_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(FileNotFoundError):
        private_folder()

"""The heap of Spark fits into the memory of a container."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.available_memory import available_memory, machine_memory

GIGABYTE = 1 << 30


@pytest.mark.parametrize(
    ("line", "limits", "expected"),
    [
        ("0::/", {"memory.max": "1073741824"}, GIGABYTE),
        ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "4096"}, 4096),
        ("0::/a/b", {"a/b/memory.max": "max"}, None),
        ("0::/a/../..", {"memory.max": "4096"}, 4096),
        ("4:cpu,memory:/a", {"memory/a/memory.limit_in_bytes": "4096"}, 4096),
        # In a container, whose group is mounted as the top.
        ("4:memory:/kubepods/x", {"memory/memory.limit_in_bytes": "4096"}, 4096),
        # Version 1 has a number that stands for no limit.
        ("4:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None),
        ("5:cpu:/", {"memory.max": "4096", "cpu/memory.limit_in_bytes": "1"}, None),
        ("", {"memory.max": "4096"}, None),
    ],
)
def test_the_least_limit_counts(
    tmp_path: Path, line: str, limits: dict[str, str], expected: int | None
) -> None:
    of_process = tmp_path / "cgroup"
    of_process.write_text(f"9:cpuset:/z\n{line}\n" if line else "")
    for name, text in limits.items():
        file = tmp_path / "groups" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    found = available_memory(tmp_path / "groups", of_process)
    assert found == (expected or machine_memory())


def test_without_control_groups_it_is_that_of_the_machine(tmp_path: Path) -> None:
    assert available_memory(tmp_path, tmp_path / "absent") == machine_memory()


def test_this_process_has_memory() -> None:
    assert 0 < available_memory() <= machine_memory()

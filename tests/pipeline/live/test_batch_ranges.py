"""Which folders of kept batches are merged: the number of folders stays small."""

from __future__ import annotations

import pytest

from pipeline.following.batch_ranges import (
    FAN_IN,
    BatchRange,
    is_complete,
    merges,
    outermost,
    range_of,
)


def one(first: int, last: int | None = None) -> BatchRange:
    return BatchRange(first, first if last is None else last)


def merged(lengths: dict[BatchRange, int], most: int) -> dict[BatchRange, int]:
    """Carry out all merges that are due."""
    after = dict(lengths)
    for whole, parts in merges(lengths, most):
        after[whole] = sum(after.pop(part) for part in parts)
    return after


def digits(number: int, base: int = FAN_IN) -> int:
    """Return the sum of the digits."""
    return number % base + (digits(number // base, base) if number else 0)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("batch=7", one(7)),
        ("batches=16-31", one(16, 31)),
        ("batches=16-16", None),
        ("batches=31-16", None),
        ("batch=", None),
        ("batch=7-old", None),
        (".batch=7-abc", None),
        ("_merged", None),
    ],
)
def test_names_are_read(name: str, found: BatchRange | None) -> None:
    assert range_of(name) == found
    assert found is None or found.name == name


def test_folders_are_as_many_as_the_digits_of_the_number_of_batches() -> None:
    lengths: dict[BatchRange, int] = {}
    for number in range(3 * FAN_IN**2 + 20):
        lengths = merged(lengths | {one(number): 1}, most=1 << 30)
        assert is_complete(sorted(lengths), number + 1)
        assert sum(lengths.values()) == number + 1
        assert len(lengths) == digits(number + 1)


def test_many_old_batches_are_merged_at_once() -> None:
    """As in a folder that was followed before merging existed."""
    count = 2 * FAN_IN**3 + 3 * FAN_IN + 1
    lengths = {one(number): 1 for number in range(count)}
    due = list(merges(lengths))
    assert [len(parts) for _, parts in due] == [FAN_IN**3] * 2 + [FAN_IN] * 3
    assert len(merged(lengths, most=1 << 30)) == 6


def test_long_folders_are_not_merged_any_further() -> None:
    """The first batch of a cluster with a long history, and what comes after it."""
    most = 100
    lengths = {one(0): 1_000}
    count = 2 * FAN_IN**2
    for number in range(1, count):
        lengths = merged(lengths | {one(number): 1}, most)
    assert is_complete(sorted(lengths), count)
    tiers = {part.size for part in lengths}
    assert tiers == {1, FAN_IN}  # 256 batches are longer than allowed
    assert lengths[one(0)] == 1_000
    assert all(length <= most for part, length in lengths.items() if part != one(0))
    # The part of a tier that stays divided is longer than allowed.
    assert len(lengths) <= FAN_IN + FAN_IN * sum(lengths.values()) / most


def test_only_whole_ranges_are_merged() -> None:
    whole = {one(n): 1 for n in range(FAN_IN)}
    assert list(merges(whole)) == [(one(0, FAN_IN - 1), tuple(sorted(whole)))]
    for gap in range(FAN_IN):
        assert not list(merges({part: 1 for part in whole if part.first != gap}))
    assert not list(merges({one(0, FAN_IN - 1): 1}))
    assert not list(merges({}))


@pytest.mark.parametrize(
    ("ranges", "count", "expected"),
    [
        ([], 0, True),
        ([one(0)], 0, True),
        ([one(0), one(1)], 0, False),
        ([one(0, 15), one(16)], 17, True),
        ([one(0, 15), one(16)], 16, True),
        ([one(0, 15)], 17, False),
        ([one(0, 15), one(17)], 17, False),
        ([one(0, 15), one(15)], 16, False),
    ],
)
def test_each_batch_is_there_once(
    ranges: list[BatchRange], count: int, expected: bool
) -> None:
    assert is_complete(ranges, count) is expected


def test_ranges_that_are_covered_do_not_count() -> None:
    found = [one(3), one(0, 15), one(16), one(0, 255), one(16, 31), one(256)]
    assert outermost(found) == [one(0, 255), one(256)]

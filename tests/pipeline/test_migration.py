"""Groups that change between the classic and the new protocol (KIP-848)."""

from __future__ import annotations

import pytest

from pipeline.cases import PREVIOUS
from tests.pipeline.consumer_groups import (
    CLASSIC,
    FIRST,
    AnyRecord,
    complete,
    ended,
    epoch,
    gone,
    has,
    new_member,
    owned,
    rebuild,
    target,
)
from tests.pipeline.groups import GROUP, group, member
from tests.pipeline.records.writers import group_key

ENDED = group_key(GROUP), None
"""Tombstone of a classic group."""


def upgraded() -> list[AnyRecord]:
    """A classic group whose members are copied at its generation."""
    return [
        group(0),
        group(1, member("a", ["t"], {"t": [0, 1]}), member("b", ["t"], {"t": [2, 3]})),
        ENDED,
        new_member("a", classic=CLASSIC),
        new_member("b", classic=CLASSIC),
        epoch(1),
        target("a", {"t": [0, 1]}),
        target("b", {"t": [2, 3]}),
        complete(1),
        has("a", {"t": [0, 1]}, number=1),
        has("b", {"t": [2, 3]}, number=1),
        new_member("c"),
        epoch(2),
        target("a", {"t": [0]}),
        target("c", {"t": [1]}),
        complete(2),
    ]


@pytest.mark.parametrize("known", [True, False], ids=["known", "compacted"])
def test_a_classic_group_that_becomes_new(known: bool) -> None:
    records = upgraded() if known else upgraded()[2:]
    found = rebuild(*records)
    assert found.quarantined == []
    said = [(case.protocol, case.generation) for case in found.cases]
    assert said == [("classic", 1), ("consumer", 2)][0 if known else 1 :]
    last = found.cases[-1]
    assert owned(last) == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    assert last.members is not None
    assert {n: member.joined for n, member in last.members.items()} == {
        "a": False, "b": False, "c": True,
    }  # fmt: skip
    assert (last.left, last.behind, last.client_assignor) == (0, 2, "uniform")


def test_a_group_that_becomes_classic_again() -> None:
    found = rebuild(
        *upgraded(),
        *ended("a", "b", "c"),
        group(2, member("a", ["t"], {"t": [0]}), member("b", ["t"], {"t": [2, 3]})),
        group(3, member("a", ["t"], {"t": [0, 1]}), member("b", ["t"], {"t": [2, 3]})),
    )
    assert found.quarantined == []
    said = [(case.protocol, case.generation) for case in found.cases]
    assert said == [("classic", 1), ("consumer", 2), ("classic", 3)]
    last = found.cases[-1]
    assert last.owned_from == PREVIOUS
    assert owned(last) == {"a": {"t": [0]}, "b": {"t": [2, 3]}}
    assert (last.left, found.cases[1].episode is not None) == (0, True)


def test_a_new_group_after_a_classic_one_is_no_migration() -> None:
    """The tombstone of an empty classic group precedes it as well."""
    found = rebuild(group(0), ENDED, *FIRST)
    assert [(c.protocol, c.generation) for c in found.cases] == [("consumer", 2)]


def test_a_classic_group_after_a_deleted_one_is_no_migration() -> None:
    found = rebuild(*FIRST, *gone("a"), epoch(3), *ended(), group(0), *[
        group(1, member("a", ["t"], {"t": [0]})),
        group(2, member("a", ["t"], {"t": [0]})),
        group(3, member("a", ["t"], {"t": [0]})),
    ])  # fmt: skip
    assert [case.generation for case in found.cases] == [2, 1, 2, 3]

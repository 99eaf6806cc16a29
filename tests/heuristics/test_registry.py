"""Assignors by name."""

from __future__ import annotations

import pytest

from heuristics import ASSIGNORS, UnknownAssignorError, assign
from rebalance.building import instance_from_dict
from tests.support.shapes import CHAIN


@pytest.mark.parametrize("name", ASSIGNORS)
def test_a_name_assigns_as_its_assignor(name: str) -> None:
    instance = instance_from_dict(CHAIN)
    if reason := ASSIGNORS[name].refuses(instance):
        with pytest.raises(ValueError, match=reason):
            assign(instance, name)
    else:
        expected = ASSIGNORS[name].assign(instance).assignee.tolist()
        assert assign(instance, name).assignee.tolist() == expected


def test_an_unknown_name_lists_those_that_there_are() -> None:
    known = ", ".join(ASSIGNORS)
    with pytest.raises(UnknownAssignorError, match=f"no assignor 'best'; .*: {known}"):
        assign(instance_from_dict(CHAIN), "best")

"""Causes of a rebalance that was read from records, without the tables of an audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from pipeline.cases import Case, CaseMember, Held
from pipeline.causes import (
    OF_MEMBER,
    OF_REBALANCE,
    OF_TOPICS,
    Cause,
    causes_of_tables,
    listed_causes,
)
from pipeline.tables import SCHEMAS
from rebalance import Rebalance

Row: TypeAlias = dict[str, Any]


def causes_of_case(
    cases: Sequence[Case], place: int, instance_of: Callable[[Case], Rebalance]
) -> tuple[Cause, ...]:
    """Return the causes of one of a group's rebalances.

    Parameters
    ----------
    cases
        All rebalances of the group in order; topics by name.
    instance_of
        Returns the instance of a case; of the chosen one, and the one before it.
    """
    counted = {
        cases[number].rebalance_id: _counts(instance_of(cases[number]))
        for number in range(max(place - 1, 0), place + 1)
    }
    rows = [_rebalance_row(case, counted.get(case.rebalance_id, {})) for case in cases]
    members = [
        _member_row(case, name, member)
        for case in cases
        for name, member in (case.members or {}).items()
    ]
    found = causes_of_tables(
        _table("rebalances", OF_REBALANCE, rows),
        _table("members", (*OF_MEMBER, *OF_TOPICS[1:]), members),
    )
    return listed_causes(found[place].as_py())


def _counts(instance: Rebalance) -> Row:
    wanted = {t for member in instance.members.values() for t in member.subscription}
    sizes = [instance.topics[topic].partitions for topic in wanted & {*instance.topics}]
    return {"topics": len(sizes), "partitions": sum(sizes)}


def _rebalance_row(case: Case, counts: Row) -> Row:
    joined = [member.joined for member in (case.members or {}).values()]
    stated = {name: getattr(case, name, None) for name in OF_REBALANCE}
    return stated | {
        **counts,
        "at": _microseconds(case.at),
        "until": _microseconds(case.until),
        "members": len(joined),
        "joined": None if None in joined else sum(map(bool, joined)),
    }


def _microseconds(milliseconds: int | None) -> int | None:
    return None if milliseconds is None else milliseconds * 1000


def _member_row(case: Case, name: str, member: CaseMember) -> Row:
    stated = {column: getattr(member, column, None) for column in OF_MEMBER}
    held = {column: _held(getattr(member, column)) for column in OF_TOPICS[1:]}
    return stated | held | {"rebalance_id": case.rebalance_id, "member_id": name}


def _held(held: Held | None) -> list[Row]:
    return [
        {"topic": topic, "partitions": sorted(numbers)}
        for topic, numbers in (held or {}).items()
    ]


def _table(name: str, columns: Sequence[str], rows: list[Row]) -> pa.Table:
    schema = pa.schema([SCHEMAS[name].field(column) for column in columns])
    return pa.Table.from_pylist(rows, schema)

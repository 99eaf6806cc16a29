"""Instances from tables with one row per partition: pandas, Arrow, polars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rebalance.building.group_parts import GroupParts, Subscriptions
from rebalance.errors import InstanceError
from rebalance.extras import extra_needed

if TYPE_CHECKING:
    import pyarrow as pa

    from rebalance.instance import Instance


def instance_from_table(
    partitions: Any, subscriptions: Subscriptions | Any, *, group: str = "group"
) -> Instance:
    """Build an instance from a table of partitions.

    Parameters
    ----------
    partitions : pandas.DataFrame, pyarrow.Table, or a table with ``__arrow_c_stream__``
        One row per partition: ``topic`` (text) and ``partition`` (integer); optional:
        ``member`` (text, the owner; null: none) and ``lag`` (integer, records). Other
        columns are ignored.
    subscriptions : mapping, table, or iterable of str
        Topics by member id; or a table with a row per ``member`` and ``topic``; or the
        topics to which all subscribe, if every member owns a partition.
    group : str
        Name of the group.

    Raises
    ------
    InstanceError
        If a column is missing or of another type, a partition is missing or listed
        twice, or an owner is not a member.
    MissingExtraError
        If pyarrow, of the extra ``audit``, is missing.
    """
    table = _arrow(partitions)
    keys = [*zip(_texts(table, "topic"), _integers(table, "partition"), strict=True)]
    owners = _owners(table)
    lags = _integers(table, "lag") if "lag" in table.column_names else None
    lag = None if lags is None else dict(zip(keys, lags, strict=True))
    subscribed = _subscriptions(subscriptions)
    is_by_member = isinstance(subscribed, Mapping)
    names = sorted(set(subscribed if is_by_member else filter(None, owners)))
    members: dict[str, dict[str, Any]] = {name: {} for name in names}
    parts = GroupParts(group=group, sizes=_sizes(keys), members=members, lag=lag)
    parts.subscribe(subscribed)
    for (topic, number), member in zip(keys, owners, strict=True):
        if member is not None:
            parts.add_claim(member, topic, number)
    return parts.instance()


def _arrow(table: Any) -> pa.Table:
    with extra_needed("instances from tables", "audit"):
        import pyarrow as pa  # noqa: PLC0415  # not in the base installation
    return pa.table(table)


def _subscriptions(given: Subscriptions | Any) -> Subscriptions:
    if isinstance(given, Mapping | list | tuple | set | frozenset):
        return given
    table, found = _arrow(given), defaultdict[str, list[str]](list)
    for member, topic in zip(
        _texts(table, "member"), _texts(table, "topic"), strict=True
    ):
        found[member].append(topic)
    return found


def _sizes(keys: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the partitions of each topic, numbered from 0 without a gap."""
    numbers = defaultdict[str, list[int]](list)
    for topic, number in keys:
        numbers[topic].append(number)
    for topic, found in numbers.items():
        for number, expected in zip(sorted(found), range(len(found)), strict=True):
            if number < expected:
                raise InstanceError("partition listed twice", subject=(topic, number))
            if number > expected:
                raise InstanceError(
                    "partition without a row", subject=(topic, expected)
                )
    return {topic: len(found) for topic, found in numbers.items()}


def _owners(table: pa.Table) -> list[str | None]:
    if "member" not in table.column_names:
        return [None] * table.num_rows
    return _values(table, "member", "string")


def _texts(table: pa.Table, name: str) -> list[str]:
    return _complete(_values(table, name, "string"), name)


def _integers(table: pa.Table, name: str) -> list[int]:
    return _complete(_values(table, name, "int64"), name)


def _values(table: pa.Table, name: str, kind: str) -> list[Any]:
    """Return a column; pandas turns integers with gaps into floats, which are exact."""
    import pyarrow as pa  # noqa: PLC0415  # as above

    if name not in table.column_names:
        raise InstanceError(f"no column {name!r} among", subject=table.column_names)
    column = table.column(name)
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if is_text != (kind == "string") and column.null_count < len(column):
        raise InstanceError(
            f"column {name!r} is not {kind} but", subject=str(column.type)
        )
    try:
        values: list[Any] = column.cast(kind).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InstanceError(
            f"column {name!r} is not {kind}", subject=str(error)
        ) from error
    return values


def _complete(values: list[Any], name: str) -> list[Any]:
    if None in values:
        row = values.index(None)
        raise InstanceError(f"column {name!r} has no value in row", subject=row)
    return values

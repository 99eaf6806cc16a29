"""A group as kafka-ui's API describes it: JSON instead of the tables of Kafka's tool.

``/api/clusters/CLUSTER/consumer-groups/GROUP`` of kafka-ui (Provectus, Kafbat) returns
the values of ``--describe`` and ``--describe --state``, of one moment. Its OpenAPI
contract fixes the form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.describe.headings import GROUP, MEMBER, Form, Heading, Separation
from pipeline.describe.text_tables import Cells, Fault, Table
from rebalance import DocumentError, parse_json, schema_error

_FIELDS: Final = {"groupId", "members", "state", "partitions"}


class _UiPartition(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    topic: str
    partition: int
    currentOffset: int | None = None  # noqa: N815
    endOffset: int | None = None  # noqa: N815
    consumerLag: int | None = None  # noqa: N815
    consumerId: str | None = None  # noqa: N815
    host: str | None = None


class _UiGroup(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    groupId: str  # noqa: N815
    members: int
    partitionAssignor: str | None = None  # noqa: N815
    state: str
    partitions: list[_UiPartition]


def is_kafka_ui(value: Any) -> bool:
    """Whether a JSON value is such a group, or a list of them."""
    groups = value if isinstance(value, list) else [value]
    return bool(groups) and all(
        isinstance(group, dict)
        and group.keys() >= _FIELDS
        and isinstance(group["members"], int)
        and isinstance(group["partitions"], list)
        for group in groups
    )


def pieces_of_kafka_ui(text: bytes) -> Iterator[Table | Fault]:
    """Yield the tables that Kafka's tool would print of the same groups."""
    try:
        value = parse_json(text)
    except DocumentError as error:
        yield Fault(line=1, text=text, reason=error.reason)
        return
    for number, document in enumerate(value if isinstance(value, list) else [value], 1):
        shown = json.dumps(document).encode()
        try:
            group = _UiGroup.model_validate(document)
        except ValidationError as error:
            reason = str(schema_error(error, document))
            named = document.get("groupId") if isinstance(document, dict) else None
            group_id = named if isinstance(named, str) else None
            yield Fault(line=number, text=shown, reason=reason, group_id=group_id)
            continue
        yield _table(
            Form.OFFSETS, [_offsets(group, partition) for partition in group.partitions]
        )
        yield _table(Form.STATE, [_state(group)])


def _offsets(group: _UiGroup, partition: _UiPartition) -> dict[str, str]:
    return {
        GROUP: group.groupId,
        "TOPIC": partition.topic,
        "PARTITION": str(partition.partition),
        "CURRENT-OFFSET": _number(partition.currentOffset),
        "LOG-END-OFFSET": _number(partition.endOffset),
        "LAG": _number(partition.consumerLag),
        MEMBER: partition.consumerId or "-",
        "HOST": partition.host or "-",
        "CLIENT-ID": "-",
    }


def _state(group: _UiGroup) -> dict[str, str]:
    """Return the row; states are written ``STABLE`` here, and ``Stable`` there."""
    return {
        GROUP: group.groupId,
        "ASSIGNMENT-STRATEGY": group.partitionAssignor or "-",
        "STATE": "".join(map(str.capitalize, group.state.split("_"))),
        "#MEMBERS": str(group.members),
    }


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _table(form: Form, rows: Sequence[Mapping[str, str]]) -> Table:
    names = tuple(rows[0]) if rows else ()
    heading = Heading(
        form=form,
        columns=tuple((name, place) for place, name in enumerate(names)),
        separation=Separation.WORDS,
    )
    cells = [
        Cells(line=number, text=json.dumps(row).encode(), by_name=dict(row))
        for number, row in enumerate(rows, start=1)
    ]
    return Table(heading=heading, line=1, rows=cells)

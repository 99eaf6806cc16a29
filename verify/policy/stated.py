"""The fields of ``assignment/1`` that state a policy and what proves its levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verify.policy.notation import check_policy
from verify.schema import (
    INT64_MAX,
    Each,
    Fields,
    Integer,
    OneOf,
    Path,
    Table,
    Unreadable,
    expect,
    text,
)

COUNT, INT64 = Integer(), Integer(-INT64_MAX)
TERM = Fields(
    {"kind": text, "bound": INT64},
    {
        "members": Each(text),
        "topics": Each(text),
        "at_least": COUNT,
        "weight": Table(COUNT),
        "price": Table(Table(INT64)),
        "steps": Each(Each(COUNT, length=2)),
    },
)
PROOFS: Mapping[str, Fields] = {
    "certificate": Fields({"by": text}),
    "terms": Fields({"by": text, "terms": Each(TERM)}),
    "search": Fields({"by": text, "engine": text}, {"terms": Each(TERM)}),
}


def check_value(value: Any, path: Path) -> None:
    """Check the value of a level: an integer, or the list of ``load``."""
    (Each(INT64) if type(value) is list else INT64)(value, path)


def check_proof(value: Any, path: Path) -> None:
    """Check a proof; its key ``by`` tells which fields it has."""
    expect(dict, value, path)
    if "by" not in value:
        raise Unreadable("missing", (*path, "by"))
    OneOf([*PROOFS])(value["by"], (*path, "by"))
    PROOFS[value["by"]](value, path)
    if value.get("terms") == [] and value["by"] == "terms":
        raise Unreadable("empty", (*path, "terms"))


OBJECTIVE = Fields(
    {"of": text, "value": check_value, "bound": check_value},
    {"scale": Integer(1), "proof": check_proof},
)
STATED_FIELDS: Mapping[str, Any] = {
    "policy": check_policy,
    "objectives": Each(OBJECTIVE),
}

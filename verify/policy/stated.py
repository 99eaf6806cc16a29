"""The fields of ``assignment/1`` that state a policy and what proves its levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verify.policy.notation import check_policy
from verify.schema import (
    COUNT,
    INT64_MAX,
    Each,
    Fields,
    Path,
    Table,
    Unreadable,
    check,
    expect,
)

INT64 = range(-INT64_MAX, INT64_MAX + 1)
TERM = Fields(
    {"kind": str, "bound": INT64},
    {
        "members": Each(str),
        "topics": Each(str),
        "at_least": COUNT,
        "weight": Table(COUNT),
        "price": Table(Table(INT64)),
        "steps": Each(Each(COUNT, length=2)),
    },
)
PROOFS: Mapping[str, Fields] = {
    "certificate": Fields({"by": str}),
    "terms": Fields({"by": str, "terms": Each(TERM)}),
    "search": Fields({"by": str, "engine": str}, {"terms": Each(TERM)}),
}


def check_value(value: Any, path: Path) -> None:
    """Check the value of a level: an integer, or the list of ``load``."""
    check(Each(INT64) if type(value) is list else INT64, value, path)


def check_proof(value: Any, path: Path) -> None:
    """Check a proof; its key ``by`` tells which fields it has."""
    expect(dict, value, path)
    if "by" not in value:
        raise Unreadable("missing", (*path, "by"))
    check(tuple(PROOFS), value["by"], (*path, "by"))
    check(PROOFS[value["by"]], value, path)
    if value.get("terms") == [] and value["by"] == "terms":
        raise Unreadable("empty", (*path, "terms"))


OBJECTIVE = Fields(
    {"of": str, "value": check_value, "bound": check_value},
    {"scale": range(1, INT64_MAX + 1), "proof": check_proof},
)
STATED_FIELDS: Mapping[str, Any] = {
    "policy": check_policy,
    "objectives": Each(OBJECTIVE),
}

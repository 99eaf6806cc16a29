"""The fields of ``assignment/1`` that state a policy and what proves its levels."""

from __future__ import annotations

from typing import Any

from verify.policy.notation import check_policy
from verify.schema import COUNT, INT64, POSITIVE, Path, Unreadable, check, expect

TERM = {
    "kind": str,
    "bound": INT64,
    "members?": [str],
    "topics?": [str],
    "at_least?": COUNT,
    "weight?": {"*": COUNT},
    "price?": {"*": {"*": INT64}},
    "steps?": [[COUNT, COUNT]],
}
PROOFS: dict[str, dict[str, Any]] = {
    "certificate": {"by": str},
    "terms": {"by": str, "terms": [TERM]},
    "search": {"by": str, "engine": str, "terms?": [TERM]},
}


def check_value(value: Any, path: Path) -> None:
    """Check the value of a level: an integer, or the list of ``load``."""
    check([INT64] if type(value) is list else INT64, value, path)


def check_proof(value: Any, path: Path) -> None:
    """Check a proof; its key ``by`` tells which fields it has."""
    expect(dict, value, path)
    if "by" not in value:
        raise Unreadable("missing", (*path, "by"))
    check(tuple(PROOFS), value["by"], (*path, "by"))
    check(PROOFS[value["by"]], value, path)
    if value.get("terms") == [] and value["by"] == "terms":
        raise Unreadable("empty", (*path, "terms"))


OBJECTIVE = {
    "of": str,
    "value": check_value,
    "bound": check_value,
    "scale?": POSITIVE,
    "proof?": check_proof,
}
STATED_FIELDS = {"policy?": check_policy, "objectives?": [OBJECTIVE]}

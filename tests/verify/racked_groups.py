"""Groups whose racks make the judge compare each partition with each member."""

from __future__ import annotations

from tests.support.shapes import Document


def numbered(size: int, kind: str) -> list[str]:
    return [f"{kind}{number:05}" for number in range(size)]


def own_racks(size: int) -> Document:
    """Return a group whose partitions and members have a rack each."""
    return {
        "format": "rebalance/1",
        "group": "own racks",
        "topics": {
            "t": {"partitions": size, "racks": [[r] for r in numbered(size, "r")]}
        },
        "members": {
            member: {"subscription": ["t"], "rack": rack}
            for member, rack in zip(
                numbered(size, "m"), numbered(size, "r"), strict=True
            )
        },
    }


def far_owners(size: int) -> Document:
    """Return a group whose owners, in sum, are as good as members in the rack."""
    owners = {
        owner: {
            "subscription": ["t"],
            "rack": "far",
            "owned": {"t": [number]},
            "generation": 1,
        }
        for number, owner in enumerate(numbered(size, "m"))
    }
    near = {name: {"subscription": ["t"], "rack": "r"} for name in numbered(size, "n")}
    return {
        "format": "rebalance/1",
        "group": "far owners",
        "topics": {"t": {"partitions": size, "racks": [["r"]] * size}},
        "members": owners | near,
    }


def answer_by_terms(
    group: Document, policy: str, level: str, terms: list[Document]
) -> Document:
    """Return an answer in which terms are about one level of a policy."""
    proof = {"by": "terms", "terms": terms}
    stated = {"of": level, "value": 0, "bound": 0, "proof": proof}
    return _held(group) | {"policy": policy, "objectives": [stated]}


def answer_by_certificate(
    group: Document, policy: str, values: list[object], weights: Document
) -> Document:
    """Return an answer with a certificate about all levels of a policy.

    Loads are 0 or 1, or else all 1.
    """
    _, levels = policy.split("; ")
    members = group["members"]
    least = int(len(members) == group["topics"]["t"]["partitions"])
    certificate = {
        "level": dict.fromkeys(members, least),
        "price": dict.fromkeys(members, 0),
        "weights": weights,
    }
    stated = [
        {"of": of, "value": value, "bound": value, "proof": {"by": "certificate"}}
        for of, value in zip(levels.split(", "), values, strict=True)
    ]
    more = {"policy": policy, "certificate": certificate, "objectives": stated}
    return _held(group) | more


def _held(group: Document) -> Document:
    """Assign each partition to the member of its number."""
    size = group["topics"]["t"]["partitions"]
    held = {name: {"t": [number]} for number, name in enumerate(numbered(size, "m"))}
    members = {name: held.get(name, {}) for name in group["members"]}
    return {"format": "assignment/1", "members": members}

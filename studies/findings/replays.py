"""The table of instances on record that were played with real consumers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from studies.findings.prose import wrapped

INTRO: Final = """
Hangs and crashes on record, each with the rebalance of its record, apart from names.
The broker chooses the order of the members, which decides ties: an instance is played
with new groups until one shows the outcome, at most five times.
"""
NO_TOPIC: Final = "no topic"
NEAREST: Final = """
In a rebalance with *no topic*, no real consumer can take part; what was played is the
nearest that real consumers can do.
"""


def replays_of(confirmations: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the values of the template for replayed records; None: there are none."""
    listed = [confirmation for confirmation in confirmations if confirmation.get("way")]
    if not listed:
        return None
    clusters = sorted({played["cluster"] for played in listed})
    where = "; ".join(f"{name}, {_dates(listed, name)}" for name in clusters)
    is_near = any(one["way"] == NO_TOPIC for one in listed)
    intro = f"{INTRO.strip()} {NEAREST.strip() if is_near else ''}"
    return {
        "intro": wrapped(f"{intro.strip()} On {where}:"),
        "rows": [
            "| assignor | record | members | finding | groups | outcome |",
            "| --- | --- | --- | --- | ---: | --- |",
            *map(_row, sorted(listed, key=_place)),
        ],
        "ways": list(_ways(listed)),
    }


def record_in_words(one: dict[str, Any]) -> str:
    """Return where the record of a confirmation was drawn."""
    record = one["record"]
    seed = f", seed {record['seed']}" if "seed" in record else ""
    return f"{record['family']} {record['index']}/{record['step']}{seed}"


def _dates(listed: Sequence[dict[str, Any]], cluster: str) -> str:
    """Return the days on which records were played on a cluster."""
    dates = {played["date"] for played in listed if played["cluster"] == cluster}
    return " and ".join(sorted(dates))


def _place(one: dict[str, Any]) -> tuple[Any, ...]:
    record = one["record"]
    who = one["client"], one["version"], one["assignor"]
    return *who, record["family"], record["index"], record["step"], one["way"]


def _row(one: dict[str, Any]) -> str:
    place = record_in_words(one)
    seen = "seen" if one["confirmed"] else "**not seen**"
    outcome = one["outcome"].replace("|", "\\|")
    who = f"{one['client']} {one['version']} `{one['assignor']}`"
    return f"| {who} | {place} | {one['way']} | {seen} | {one['groups']} | {outcome} |"


def _ways(listed: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield an item per way, with its members and its history."""
    ways = {one["way"]: one for one in listed}
    for way, one in sorted(ways.items()):
        text = f"- *{way}* ({one['members']}): {' '.join(one['history'])}"
        yield wrapped(text, indent="  ")

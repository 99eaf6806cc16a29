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
    is_near = any(confirmation["way"] == NO_TOPIC for confirmation in listed)
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


def record_in_words(confirmation: dict[str, Any]) -> str:
    """Return where the record of a confirmation was drawn."""
    record = confirmation["record"]
    seed = f", seed {record['seed']}" if "seed" in record else ""
    return f"{record['family']} {record['index']}/{record['step']}{seed}"


def _dates(listed: Sequence[dict[str, Any]], cluster: str) -> str:
    """Return the days on which records were played on a cluster."""
    dates = {played["date"] for played in listed if played["cluster"] == cluster}
    return " and ".join(sorted(dates))


def _place(confirmation: dict[str, Any]) -> tuple[Any, ...]:
    record = confirmation["record"]
    who = confirmation["client"], confirmation["version"], confirmation["assignor"]
    return *who, record["family"], record["index"], record["step"], confirmation["way"]


def _row(confirmation: dict[str, Any]) -> str:
    place = record_in_words(confirmation)
    seen = "seen" if confirmation["confirmed"] else "**not seen**"
    outcome = confirmation["outcome"].replace("|", "\\|")
    who = (
        f"{confirmation['client']} {confirmation['version']} "
        f"`{confirmation['assignor']}`"
    )
    return (
        f"| {who} | {place} | {confirmation['way']} | {seen} | "
        f"{confirmation['groups']} | {outcome} |"
    )


def _ways(listed: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield an item per way, with its members and its history."""
    ways = {confirmation["way"]: confirmation for confirmation in listed}
    for way, confirmation in sorted(ways.items()):
        text = (
            f"- *{way}* ({confirmation['members']}): "
            f"{' '.join(confirmation['history'])}"
        )
        yield wrapped(text, indent="  ")

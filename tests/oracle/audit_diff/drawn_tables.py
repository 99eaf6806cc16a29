"""Random tables of audits, of which only the columns of a comparison are set."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.oracle.report.audits import Audit

EPOCH = datetime(2026, 3, 1, tzinfo=UTC)
GROUPS = ("orders", "billing", "feed")
USUAL = {
    "verdict": "valid",
    "dec_min_balanced": True,
    "moves": 0,
    "moves_least": 0,
    "at_optimum": True,
    "members": 2,
    "partitions": 4,
}
"""Columns of an answer that is as good as the optimum."""
INSTANCE = '{"format": "rebalance/1", "topics": {}, "members": {}}'


def moment(ms: int | None) -> datetime | None:
    return None if ms is None else EPOCH + timedelta(milliseconds=ms)


def add_rebalance(
    audit: Audit,
    group: str,
    generation: int,
    times: tuple[int | None, int | None],
    *,
    ended: str = "next",
    partitions: dict[str, int] | None = None,
    **answer: Any,
) -> None:
    """Add a rebalance from one time to another, ms, and the answer of the client.

    ``partitions`` are unread, shared, waiting, and imbalanced ones.
    """
    at, until = times
    lasted = None if at is None or until is None else until - at
    shared = {
        "rebalance_id": f"{group}#{generation}",
        "group_id": group,
        "generation": generation,
        "client_assignor": answer.pop("assignor", "range"),
        "cooperative": False,
        "date": "undated" if at is None else "2026-03-01",
    }
    audit.add(
        "rebalances",
        **shared,
        at=moment(at),
        until=moment(until),
        ended=ended,
        lasted_ms=lasted,
        source_offset=generation,
        instance=INSTANCE,
    )
    harm = _harm(partitions or {}, lasted)
    audit.add(
        "answers", **shared, assignor="actual", applies=True, **USUAL | harm | answer
    )


def _harm(partitions: Mapping[str, int], lasted: int | None) -> dict[str, int | None]:
    return {
        f"{name}_partition_ms": None if lasted is None else number * lasted
        for name, number in partitions.items()
    }


def drawn_audit(rng: Random) -> Audit:
    """Draw the history of a few groups; times are small, so that they coincide."""
    audit = Audit()
    end = rng.randrange(50, 90)
    for group in rng.sample(GROUPS, rng.randint(1, 3)):
        times = sorted(rng.choices(range(end), k=rng.randint(1, 6)))
        last = rng.choice(["open", "empty"])
        for place, at in enumerate(times):
            is_last = place == len(times) - 1
            until = times[place + 1] if not is_last else end
            until = rng.randint(at, end) if is_last and last == "empty" else until
            invalid = rng.random() < 0.3
            needless = rng.choice([0, 0, 1, 5])
            add_rebalance(
                audit,
                group,
                place + 1,
                (
                    None if rng.random() < 0.05 else at,
                    None if rng.random() < 0.05 else until,
                ),
                ended=last if is_last else rng.choice(["next", "next", "empty"]),
                partitions={
                    "unread": rng.choice([0, 3]) if invalid else 0,
                    "shared": rng.choice([0, 1]) if invalid else 0,
                    "waiting": rng.choice([0, 0, 2]),
                    "imbalance": rng.choice([0, 0, 4]),
                },
                verdict="invalid" if invalid else "valid",
                moves=1 + needless,
                moves_least=1,
                at_optimum=not (invalid or needless),
                assignor=rng.choice(["range", "sticky"]),
            )
    return audit


def written(audit: Audit, folder: Path, end: int, **parameters: str) -> Path:
    """Write an audit whose newest record has a time, ms."""
    audit.asked_for = {**audit.asked_for, **parameters}
    audit.newest_record = moment(end)
    return audit.write(folder)

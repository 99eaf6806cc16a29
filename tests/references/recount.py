"""Count an audit's tables by loops over plain rows, without the page's code."""

from __future__ import annotations

import json
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.tables import read_table

Row = dict[str, Any]
Group = tuple[str, str]
WRONG = ("needless", "unbalanced", "invalid")


class Recount:
    """The numbers that the page may state."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = ("rebalances", "answers", "episodes", "snapshots", "quarantine")
        self.tables: dict[str, list[Row]] = {
            name: read_table(folder, name).to_pylist() for name in names
        }
        self.manifest: Row = json.loads((folder / "audit.json").read_bytes())

    @cached_property
    def units(self) -> list[Row]:
        """The rebalances of clients: eager generations, and cooperative episodes."""
        episode_of = {r["rebalance_id"]: r for r in self.tables["rebalances"]}
        actual = [r for r in self.tables["answers"] if r["assignor"] == "actual"]
        broken = {
            episode_of[row["rebalance_id"]]["episode_id"]
            for row in actual
            if row["cooperative"] and row["verdict"] == "invalid"
        }
        eager = [r for r in actual if not r["cooperative"] and r["applies"]]
        episodes = [r for r in self.tables["episodes"] if r["cooperative"]]
        return [row | {"outcome": outcome(row)} for row in eager] + [
            row
            | {"outcome": "invalid" if row["episode_id"] in broken else outcome(row)}
            for row in episodes
        ]

    def broken_rounds(self, episode_id: str) -> list[Row]:
        """Return the invalid rounds of an episode, the first one first."""
        rounds = {
            row["rebalance_id"]
            for row in self.tables["rebalances"]
            if row["episode_id"] == episode_id
        }
        broken = [
            row
            for row in self.tables["answers"]
            if row["assignor"] == "actual"
            and row["rebalance_id"] in rounds
            and row["verdict"] == "invalid"
        ]
        return sorted(broken, key=lambda row: row["generation"])

    @cached_property
    def outcomes(self) -> Counter[str]:
        return Counter(row["outcome"] for row in self.units)

    @property
    def wrong(self) -> int:
        return sum(self.outcomes[name] for name in WRONG)

    @property
    def judged(self) -> int:
        return self.wrong + self.outcomes["optimum"]

    @property
    def needless_moves(self) -> int:
        return sum(
            row["moves"] - row["moves_least"]
            for row in self.units
            if row["outcome"] == "needless"
        )

    @property
    def judged_groups(self) -> set[Group]:
        return {
            (row["cluster"], row["group_id"])
            for row in self.units
            if row["outcome"] != "open"
        }

    @property
    def generations(self) -> int:
        return len(self.tables["rebalances"])

    @property
    def proved(self) -> int:
        return sum(
            row["status"] == "optimal"
            and bool(row["proved_dec_min"])
            and bool(row["proved_stickiness"])
            for row in self.tables["answers"]
            if row["assignor"] == "optimum"
        )

    @cached_property
    def states(self) -> Counter[str]:
        return Counter(map(_state, self.tables["snapshots"]))

    @property
    def days(self) -> set[str]:
        """Days with a rebalance of clients."""
        return {row["date"] for row in self.units} - {"undated"}

    def lag_at_bound(self) -> dict[str, tuple[int, int]]:
        """Return generations at the bound on peak lag, and of known lag, by name."""
        found: dict[str, tuple[int, int]] = {}
        for row in self.tables["answers"]:
            apart = row["assignor"] == "actual" and row["cooperative"]
            values = row["peak_lag"], row["peak_lag_bound"]
            if row["verdict"] == "valid" and not apart and None not in values:
                at, known = found.get(row["assignor"], (0, 0))
                found[row["assignor"]] = at + (values[0] == values[1]), known + 1
        return found

    def endless(self, busy: int, hours: int, rounds: int) -> set[Group]:
        """Return groups with so many busy hours in a row, or so many rounds."""
        found: dict[tuple[str, str, int], int] = {}
        for row in self.tables["rebalances"]:
            if row["at"] is not None:
                hour = int(row["at"].timestamp() // 3600)
                key = row["cluster"], row["group_id"], hour
                found[key] = found.get(key, 0) + 1
        long = {
            (row["cluster"], row["group_id"])
            for row in self.tables["episodes"]
            if row["cooperative"] and row["rounds"] >= rounds
        }
        return long | {
            key[:2]
            for key in found
            if all(
                found.get((*key[:2], key[2] + later), 0) >= busy
                for later in range(hours)
            )
        }

    def sticky_groups(self, least: int) -> dict[tuple[str, str], Counter[str]]:
        """Return outcomes by group and sticky assignor, with ``least`` judged."""
        found: dict[tuple[str, str, str], Counter[str]] = {}
        for row in self.units:
            name = row["client_assignor"] or ""
            if "sticky" in name or "uniform" in name:
                key = row["cluster"], row["group_id"], name
                found.setdefault(key, Counter())[row["outcome"]] += 1
        return {
            key[1:]: counts
            for key, counts in found.items()
            if counts.total() - counts["open"] >= least
        }


def outcome(row: Row) -> str:
    """Classify an answer."""
    if row["verdict"] not in (None, "valid"):
        return "invalid"
    if row["at_optimum"] is None:
        return "open"
    if row["at_optimum"]:
        return "optimum"
    if not row["dec_min_balanced"]:
        return "unbalanced"
    assert row["moves"] > row["moves_least"]
    return "needless"


def _state(row: Row) -> str:
    if row["state_of"] is not None:
        return "recorded"
    if row["verdict"] == "invalid":
        return "invalid"
    known = {True: "balanced", False: "unbalanced", None: "undetermined"}
    return known[row["dec_min_balanced"]]

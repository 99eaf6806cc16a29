"""Rows of the matrix of clients and families, from counts of stored runs (run/1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.clients import all_client_assignors
from conformance.runs import FAMILIES, SAFETY, RunSummary
from conformance.runs.run_records import FILE

FAULTS: Final = ["hang", "crash", "error", "invalid", "unrevoked", "restless"]
CONFLICTING: Final = ("stale", "generations", "swarm", FILE)
"""Families in which several members can claim one partition."""
_SAFETY: Final = tuple(category.value for category in SAFETY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Outcomes of one assignor in some families.

    ``faults`` are counts of hang, crash, error, invalid, unrevoked, and restless.
    """

    rebalances: int
    valid: int
    optimal: int
    faults: dict[str, int]
    needless_moves: int

    @classmethod
    def of(cls, runs: Iterable[RunSummary]) -> Counted:
        """Add up runs."""
        listed = list(runs)
        faults = {name: sum(run.outcomes[name] for run in listed) for name in _SAFETY}
        total = sum(run.rebalances for run in listed)
        return cls(
            rebalances=total,
            valid=total - sum(faults.values()),
            optimal=sum(run.outcomes["optimal"] for run in listed),
            faults=faults,
            needless_moves=sum(run.needless_moves for run in listed),
        )


def families_in(runs: Iterable[RunSummary]) -> list[str]:
    """Return the families that occur, in the order of the program; given ones last."""
    present = {run.family for run in runs}
    return [name for name in (*FAMILIES, FILE) if name in present]


def subjects_in(runs: Iterable[RunSummary]) -> list[str]:
    """Return the assignors that occur, in the order of the registry."""
    present = {run.subject.name for run in runs}
    known = [
        assignor.spec for assignor in all_client_assignors() if assignor.spec in present
    ]
    return known + sorted(present - set(known))


def totals(runs: Sequence[RunSummary]) -> list[list[str]]:
    """Return a row per assignor: its name, rebalances, shares, faults, moves."""
    rows = {
        name: _cells(Counted.of(r for r in runs if r.subject.name == name))
        for name in subjects_in(runs)
    }
    return _joined(rows)


def shares(runs: Sequence[RunSummary], share: str) -> list[list[str]]:
    """Return a row per assignor: its name, and a share (valid, optimal) per family."""
    families = families_in(runs)
    counted = {
        (name, family): Counted.of(
            r for r in runs if r.subject.name == name and r.family == family
        )
        for name in subjects_in(runs)
        for family in families
    }
    rows = {
        name: [
            percent(
                cell.valid if share == "valid" else cell.optimal,
                cell.rebalances,
            )
            for cell in (counted[name, family] for family in families)
        ]
        for name in subjects_in(runs)
    }
    return _joined(rows)


def per_family(runs: Sequence[RunSummary], name: str) -> list[list[str]]:
    """Return a row per family of one assignor: as in `totals`."""
    mine = [run for run in runs if run.subject.name == name]
    return [
        [
            family_label(family),
            *_cells(Counted.of(r for r in mine if r.family == family)),
        ]
        for family in families_in(mine)
    ]


def percent(part: int, whole: int) -> str:
    """Return a share in percent with one digit; 100 and 0 only if they are exact."""
    if not whole:
        return "–"
    if part in {0, whole}:
        return "100" if part else "0"
    tenths = min(max(round(1000 * part / whole), 1), 999)
    return f"{tenths / 10:.1f}"


def _cells(counted: Counted) -> list[str]:
    return [
        f"{counted.rebalances:,}",
        percent(counted.valid, counted.rebalances),
        percent(counted.optimal, counted.rebalances),
        *(
            f"{counted.faults[name]:,}" if counted.faults[name] else ""
            for name in FAULTS
        ),
        f"{counted.needless_moves:,}",
    ]


def family_label(name: str) -> str:
    """Return the name of a family in a table; given rebalances are the corpus."""
    return "corpus" if name == FILE else name


def parts_of(name: str) -> tuple[str, str, str]:
    """Return client, version, and assignor of ``CLIENT@VERSION/ASSIGNOR``."""
    client, _, rest = name.partition("@")
    version, _, assignor = rest.partition("/")
    return client, version, assignor


def _joined(rows: Mapping[str, list[str]]) -> list[list[str]]:
    """Join the versions of an assignor that have the same cells in one row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, cells in rows.items():
        client, version, assignor = parts_of(name)
        alike.setdefault((client, assignor, *cells), []).append(version)
    return [
        [f"{client} {', '.join(versions)} {assignor}".replace("  ", " "), *cells]
        for (client, assignor, *cells), versions in alike.items()
    ]


def claims_decide(runs: Sequence[RunSummary]) -> list[tuple[str, dict[str, int]]]:
    """Return assignors whose needless moves are all where members' claims conflict.

    Returns
    -------
    list of (str, dict)
        Specification, and needless moves of the families `CONFLICTING`.
    """
    found = []
    for name in subjects_in(runs):
        mine = [run for run in runs if run.subject.name == name and run.needless_moves]
        families = {run.family: 0 for run in mine}
        for run in mine:
            families[run.family] += run.needless_moves
        if families and set(families) <= set(CONFLICTING):
            ordered: dict[str, int] = {
                f: families[f] for f in CONFLICTING if f in families
            }
            found.append((name, ordered))
    return found

"""Findings that may explain the invalid answers of a group.

A finding (docs/findings) states the clients, assignors, and violated rules of a fault,
and shapes of the rebalance (`conformance.shapes`). It is named if the newest invalid
answer of the group agrees in all of them, as far as the records tell. That is evidence,
and no proof: another fault can give the same answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from oracle.report.client_settings import CLIENTS
from oracle.report.group_clients import UNKNOWN, ClientEvidence
from oracle.report.load import load_documents
from oracle.summary import equals
from pipeline.evaluation import ACTUAL

if TYPE_CHECKING:  # a fifth of a second, and most pages need none
    from conformance.findings.definitions import Definition

Group = tuple[str, str]

PARTITIONS: Final = 50_000
"""Most partitions of the rebalances that are read, which takes 2 us for each."""
GROUPS: Final = 200
FOLDER: Final = "docs/findings"
"""Where the page of a finding is, in the repository of this project."""
_OUTCOME: Final = "invalid"
_NO_FAULT: Final = frozenset({"withdrawn", "by-design"})
_UNASSIGNED: Final = "unassigned"
_RECORDED: Final = "file"
"""Family of rebalances that were not drawn."""
_BUILT_ON: Final = {"kafka-connect": "kafka-clients"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFault:
    """A finding that agrees with an invalid answer of a group.

    Attributes
    ----------
    finding, title : id and title of the finding
    rules : the violated rules that it explains
    clients : clients that have it, of those that the group can have
    fixed : client and first version that is free of it, where the finding knows one
    """

    finding: str
    title: str
    rules: tuple[str, ...]
    clients: tuple[str, ...]
    fixed: tuple[tuple[str, str], ...]

    @property
    def page(self) -> str:
        """Path of its page in the repository."""
        return f"{FOLDER}/{self.finding}.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidAnswer:
    """The newest invalid answer of a group.

    Attributes
    ----------
    generation : None if unknown
    rules : that it violates
    faults : findings that agree with it
    left_out : topics that it assigns to no member, if nothing else is wrong with it
    lasted_ms : milliseconds until the group's next state, None if unknown
    """

    generation: int | None
    rules: tuple[str, ...]
    faults: tuple[KnownFault, ...]
    left_out: tuple[str, ...] = ()
    lasted_ms: int | None = None


def invalid_answers(
    folder: Path, actual: pa.Table, clients: Mapping[Group, ClientEvidence]
) -> dict[tuple[str, str, str | None], InvalidAnswer]:
    """Return the newest invalid answer per cluster, group, and assignor.

    ``actual`` are rows of ``answers`` of the clients. Groups with fewer partitions are
    read first, up to `GROUPS` and `PARTITIONS`.
    """
    rows = _newest_invalid(actual)
    wanted = [(row["date"], row["group_id"], row["rebalance_id"]) for row in rows]
    violations = {
        (row["cluster"], row["rebalance_id"]): row["violations"] or ()
        for row in load_documents(
            folder,
            "answers",
            "rebalance_id",
            wanted,
            ("cluster", "violations"),
            ds.field("assignor") == ACTUAL,
        )
    }
    columns = ("cluster", "instance", "lasted_ms")
    rebalances = {
        (row["cluster"], row["rebalance_id"]): row
        for row in load_documents(folder, "rebalances", "rebalance_id", wanted, columns)
    }
    found = {}
    for row in rows:
        key = row["cluster"], row["rebalance_id"]
        assignor = row["client_assignor"] or None
        broken = violations.get(key, ())
        rules = tuple(sorted({violation["rule"] for violation in broken}))
        evidence = clients.get((row["cluster"], row["group_id"]), UNKNOWN)
        instance = json.loads(rebalances[key]["instance"])
        found[row["cluster"], row["group_id"], assignor] = InvalidAnswer(
            generation=row["generation"],
            rules=rules,
            faults=known_faults(evidence.clients, assignor, rules, instance),
            left_out=_left_out(broken, instance),
            lasted_ms=rebalances[key]["lasted_ms"],
        )
    return found


def known_faults(
    clients: Sequence[str],
    assignor: str | None,
    rules: Sequence[str],
    instance: Mapping[str, Any],
) -> tuple[KnownFault, ...]:
    """Return the findings that agree with an invalid answer.

    Parameters
    ----------
    clients
        Of the group; empty: unknown, and those of any client count.
    assignor
        Protocol name; None: unknown, and those of any assignor count.
    rules
        Violated rules.
    instance
        The rebalance, as a rebalance/1 document.
    """
    _, shapes = findings_and_shapes()
    seen = frozenset(name for name, has in shapes.items() if has(instance))
    return _agreeing(tuple(clients), assignor, tuple(rules), seen)


@cache
def _agreeing(
    clients: tuple[str, ...],
    assignor: str | None,
    rules: tuple[str, ...],
    shapes: frozenset[str],
) -> tuple[KnownFault, ...]:
    """Return the findings that agree; most answers are alike in all of these."""
    found = []
    for finding in findings_and_shapes()[0]:
        explained = _explained(finding, assignor, rules, shapes)
        of = {_BUILT_ON.get(name, name) for name in clients} or set(explained)
        named = tuple(name for name in explained if name in of)
        if named and finding.status not in _NO_FAULT:
            found.append(_known_fault(finding, explained, named))
    return tuple(found)


def _known_fault(
    finding: Definition, explained: Mapping[str, set[str]], named: tuple[str, ...]
) -> KnownFault:
    return KnownFault(
        finding=finding.id,
        title=finding.title,
        rules=tuple(sorted({rule for name in named for rule in explained[name]})),
        clients=named,
        fixed=tuple(
            (status.client, status.first_fixed)
            for status in finding.statuses
            if status.client in named and status.first_fixed
        ),
    )


def findings_and_shapes() -> tuple[
    tuple[Definition, ...], Mapping[str, Callable[[Mapping[str, Any]], bool]]
]:
    """Load all findings, and the shapes of rebalances, which some pages need."""
    from conformance import SHAPES  # noqa: PLC0415
    from conformance.findings.definitions import all_definitions  # noqa: PLC0415

    return all_definitions(), SHAPES


def _explained(
    finding: Definition,
    assignor: str | None,
    rules: Sequence[str],
    shapes: AbstractSet[str],
) -> dict[str, set[str]]:
    """Return the rules that a finding explains, by client that has the assignor.

    Shapes that a selector excludes are those of a smallest rebalance, and recorded ones
    are larger. A selector of one family of draws is not about recorded rebalances.
    """
    explained: dict[str, set[str]] = {}
    for selector in finding.selectors:
        agrees = (
            _OUTCOME in selector.categories
            and _any_matches(selector.families, _RECORDED)
            and (assignor is None or _any_matches(selector.assignors, assignor))
            and shapes >= set(selector.shapes)
        )
        broken = {rule for rule in rules if _any_matches(selector.details, rule)}
        if agrees and broken:
            for name in _having(selector.clients, assignor):
                explained[name] = explained.get(name, set()) | broken
    return explained


def _having(clients: Sequence[str], assignor: str | None) -> list[str]:
    """Return the clients that have an assignor."""
    return [
        name
        for name in clients
        if assignor is None or assignor in CLIENTS[name].assignors
    ]


def _any_matches(patterns: Sequence[str], text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _left_out(
    violations: Iterable[Mapping[str, Any]], instance: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the topics without any member, if the answer is right but for them."""
    unassigned = Counter[str]()
    for violation in violations:
        if violation["rule"] != _UNASSIGNED:
            return ()
        unassigned[violation["topic"]] += 1
    sizes = {name: topic["partitions"] for name, topic in instance["topics"].items()}
    if any(sizes.get(topic) != count for topic, count in unassigned.items()):
        return ()
    return tuple(sorted(unassigned))


def _newest_invalid(actual: pa.Table) -> list[dict[str, Any]]:
    """Return the newest invalid answer of each group and assignor, smallest first."""
    applies = pc.fill_null(actual["applies"], True)
    judged = pc.is_valid(actual["verdict"])
    is_invalid = pc.and_(judged, pc.invert(equals(actual["verdict"], "valid")))
    newest: dict[tuple[str, str, str | None], dict[str, Any]] = {}
    for row in actual.filter(pc.and_(applies, is_invalid)).to_pylist():
        key = row["cluster"], row["group_id"], row["client_assignor"] or None
        if key not in newest or _order(newest[key]) < _order(row):
            newest[key] = row
    kept: list[dict[str, Any]] = []
    left = PARTITIONS
    for row in sorted(newest.values(), key=lambda row: row["partitions"] or 0):
        left -= row["partitions"] or 0
        if left < 0 or len(kept) == GROUPS:
            break
        kept.append(row)
    return kept


def _order(row: Mapping[str, Any]) -> tuple[str, int, int, str]:
    generation = -1 if row["generation"] is None else row["generation"]
    return row["date"], generation, len(row["rebalance_id"]), row["rebalance_id"]

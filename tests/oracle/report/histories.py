"""Audits without Spark: of sources as they are, and of histories that chance draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

from pipeline.records import GroupMetadata
from tests.pipeline.describe.describe_text import members, state
from tests.pipeline.groups import Log, group, member
from tests.pipeline.local_audit import local_audit
from tests.pipeline.test_sources import jsonl
from tests.support.strategies import (
    draw_any_assignment,
    draw_assignment,
    generators,
    rebalances,
)

Row = dict[str, Any]
MOST_STEPS = 8
RECORDED, DESCRIBED, PRESENT, INVALID = 0.8, 0.3, 0.9, 0.1
"""Shares of groups in records, states in text as well, members, invalid answers."""
ASSIGNORS = ("range", "sticky", "cooperative-sticky")


def audit_of(sources: Sequence[Path], out: Path) -> Path:
    """Audit sources with all assignors, without Spark; return the folder."""
    local_audit(sources, out, cluster="prod", assignors=["all"])
    return out


def drawn_sources() -> st.SearchStrategy[tuple[Log, str]]:
    """Draw records of some groups, and describe text of some of their states."""
    group_of = st.tuples(
        rebalances(), st.sampled_from(ASSIGNORS), st.integers(0, MOST_STEPS)
    )
    groups = st.fixed_dictionaries(dict.fromkeys(("g-1", "g-2"), group_of))
    return st.builds(_sources, groups, generators())


def _sources(groups: dict[str, tuple[Row, str, int]], rng: Random) -> tuple[Log, str]:
    """Write states one after the other: recorded, described, or both."""
    log, text = Log(), ""
    for name, (document, assignor, steps) in groups.items():
        is_recorded = rng.random() < RECORDED
        for number in range(1, steps + 1):
            held = _held(document, rng)
            if is_recorded and held:
                log.add(_generation(name, number, document, held, assignor))
            if held and rng.random() < (DESCRIBED if is_recorded else 1):
                text += _text(name, held)
    return log, text


def _held(document: Row, rng: Random) -> Row:
    """Return an assignment to some of the members, now and then an invalid one."""
    people = {
        name: member
        for name, member in document["members"].items()
        if rng.random() < PRESENT
    }
    draw = draw_any_assignment if rng.random() < INVALID else draw_assignment
    held = draw(rng, document | {"members": people})["members"] if people else {}
    return {name: topics for name, topics in held.items() if name in people}


def _generation(
    name: str, generation: int, document: Row, held: Row, assignor: str
) -> GroupMetadata:
    people = [
        member(
            member_id, document["members"][member_id]["subscription"], held[member_id]
        )
        for member_id in held
    ]
    return group(generation, *people, assignor=assignor, group_id=name)


def _text(name: str, held: Row) -> str:
    rows = (
        (member_id, sum(map(len, topics.values())), _assigned(topics))
        for member_id, topics in held.items()
    )
    summary = state("Stable", len(held), group=name)
    return members(*rows, group=name) + summary


def _assigned(held: Row) -> str:
    parts = (f"{t}:{','.join(map(str, n))}" for t, n in held.items() if n)
    return ";".join(parts) or "-"


def write_sources(folder: Path, log: Log, text: str) -> list[Path]:
    """Write what was drawn, with a line that belongs to no table."""
    folder.mkdir()
    if log.records:
        (folder / "records.jsonl").write_text(jsonl(log.records))
    (folder / "all.txt").write_text(text + "\nWarning: nothing\nwhat is this?\n")
    return [folder]

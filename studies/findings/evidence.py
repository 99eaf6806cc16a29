"""Stored evidence of a finding: reproducers, and tests with real consumers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from conformance.reproducers import RECORD, ReproducerRecord, read_record
from studies.confirmation import Confirmation, read_confirmations


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReproducer:
    """A stored reproducer: its record (reproducer/1) and the text of its test.

    Attributes
    ----------
    folder
        Relative to the page.
    modules
        Modules that a test in Go requires directly, ``PATH@VERSION``.
    """

    record: ReproducerRecord
    folder: str
    text: str
    modules: tuple[str, ...] = ()

    @property
    def failure(self) -> list[str]:
        """Lines of the output that name the finding."""
        lines = [line.strip() for line in self.record.output.splitlines()]
        named = [line for line in lines if "finding:" in line]
        return list(dict.fromkeys(named))[:2] or lines[:2]


def reproducers_of(folder: Path, finding: str) -> tuple[StoredReproducer, ...]:
    """Return the reproducers of a finding, by client."""
    found = []
    for path in sorted(folder.glob(f"reproducers/{finding}/**/{RECORD}")):
        record = read_record(path.parent)
        test = path.with_name(record.file)
        found.append(
            StoredReproducer(
                record=record,
                folder=path.parent.relative_to(folder).as_posix(),
                text=test.read_text("utf-8").rstrip("\n"),
                modules=_modules(path.with_name("go.mod")),
            )
        )
    return tuple(found)


def _modules(path: Path) -> tuple[str, ...]:
    """Return the modules that a go.mod requires directly; none without the file."""
    if not path.exists():
        return ()
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    named = (line.removeprefix("require ").split() for line in lines)
    return tuple(
        "@".join(parts)
        for parts in named
        if len(parts) == 2 and parts[1].startswith("v")
    )


def confirmations_of(folder: Path, finding: str) -> tuple[Confirmation, ...]:
    """Return the confirmations (confirmation/1) of a finding, as they are stored.

    A reproducer that runs real consumers has its own, next to it.
    """
    paths = [folder / "confirmations.jsonl"]
    paths += sorted(folder.glob(f"reproducers/{finding}/*/confirmation.jsonl"))
    return tuple(
        confirmation
        for path in paths
        for confirmation in read_confirmations(path)
        if confirmation.finding == finding
    )


def by_history(confirmations: Iterable[Confirmation]) -> list[list[Confirmation]]:
    """Return those with a history of their own, in groups that went through the same.

    A group has the members, the cluster, the date, and the history in common.
    """
    own = [confirmation for confirmation in confirmations if not confirmation.way]
    common = attrgetter("members", "cluster", "date", "history")
    return [
        sorted(group, key=attrgetter("client", "version"))
        for _, group in groupby(sorted(own, key=common), key=common)
    ]

"""What others have stored about a finding: reproducers and confirmations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

FENCES: Final = {
    ".java": "java",
    ".go": "go",
    ".py": "python",
    ".mjs": "javascript",
    ".js": "javascript",
    ".c": "c",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproducer:
    """A stored reproducer: its record (reproducer/1) and the text of its test."""

    record: dict[str, Any]
    folder: str  # relative to the page
    text: str
    fence: str
    modules: tuple[str, ...] = ()  # that a test in Go requires, ``PATH@VERSION``


def reproducers_of(folder: Path, finding: str) -> tuple[Reproducer, ...]:
    """Return the reproducers of a finding, by client."""
    found = []
    for path in sorted(folder.glob(f"reproducers/{finding}/**/reproducer.json")):
        record = orjson.loads(path.read_bytes())
        test = path.parent / record["file"]
        found.append(
            Reproducer(
                record=record,
                folder=path.parent.relative_to(folder).as_posix(),
                text=test.read_text("utf-8").rstrip("\n"),
                fence=FENCES.get(test.suffix, ""),
                modules=_modules(path.with_name("go.mod")),
            )
        )
    return tuple(found)


def _modules(path: Path) -> tuple[str, ...]:
    """Return what a go.mod requires directly; none if there is no such file."""
    if not path.exists():
        return ()
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    named = (line.removeprefix("require ").split() for line in lines)
    return tuple(
        "@".join(parts)
        for parts in named
        if len(parts) == 2 and parts[1].startswith("v")
    )


def confirmations_of(folder: Path, finding: str) -> tuple[dict[str, Any], ...]:
    """Return the confirmations (confirmation/1) of a finding, as they are stored.

    A reproducer that runs real consumers has its own, next to it.
    """
    paths = [folder / "confirmations.jsonl"]
    paths += sorted(folder.glob(f"reproducers/{finding}/*/confirmation.jsonl"))
    lines = [
        orjson.loads(line)
        for path in paths
        if path.exists()
        for line in path.read_bytes().splitlines()
    ]
    return tuple(line for line in lines if line["finding"] == finding)

"""Read the Dockerfile: its instructions, and the files that they copy."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "Dockerfile"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: ``COPY``, and its arguments."""

    word: str
    rest: str


def instructions() -> list[Instruction]:
    """Return the instructions in order, continued lines joined."""
    text = re.sub(r"\\\n", " ", FILE.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    parts = [line.partition(" ") for line in lines]
    return [Instruction(word, rest.strip()) for word, _, rest in parts]


def arguments_of(word: str) -> list[str]:
    """Return the arguments of each instruction of a kind."""
    return [found.rest for found in instructions() if found.word == word]


def copied() -> list[Path]:
    """Return the files and folders that are copied, each to the same path."""
    found = []
    for rest in arguments_of("COPY"):
        *sources, target = rest.split()
        assert target == "./" or sources == [target], rest
        found += [ROOT / source for source in sources]
    return found


def copy_to(folder: Path) -> None:
    """Copy what the image has, without what runs leave behind (``.dockerignore``)."""
    left = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*_cache")
    for source in copied():
        target = folder / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=left)
        else:
            shutil.copy2(source, target)

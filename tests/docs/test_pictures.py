"""The pictures in docs equal what `tools.pictures` draws, and pages show them all."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from heuristics import ASSIGNORS
from heuristics.group import Safeguards
from tools.pictures import canvas, pictures
from tools.pictures.assignor_contents import contrast_of, example_of
from tools.pictures.every import HISTORIES
from tools.pictures.panels import picture_of
from tools.pictures.scenes import Animation, with_and_without

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    page: page.read_text(encoding="utf-8") for page in sorted(ROOT.glob("docs/**/*.md"))
}


@cache
def drawn() -> dict[str, str]:
    """Draw all; the paths from the root, and the SVG."""
    return dict(pictures(ROOT))


@pytest.mark.heavy
def test_pictures_equal_those_that_the_program_draws() -> None:
    kept = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/images/**/*.svg")}
    assert kept == set(drawn())
    for path, svg in drawn().items():
        message = f"{path} is not what python -m tools.pictures draws"
        assert (ROOT / path).read_text(encoding="utf-8") == svg, message


def test_every_picture_is_shown() -> None:
    shown = "".join(PAGES.values())
    for picture in ROOT.glob("docs/images/**/*.svg"):
        assert f"{picture.parent.name}/{picture.name})" in shown


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_every_assignor_has_its_page(assignor: str) -> None:
    page = PAGES[ROOT / f"docs/assignors/{assignor}.md"]
    assert f"](../images/assignors/{assignor}.svg)" in page
    assert example_of(assignor).as_posix() in page
    index = PAGES[ROOT / "docs/assignors/README.md"]
    assert f"[`{assignor}`]({assignor}.md)" in index


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_every_picture_shows_something_wrong(assignor: str) -> None:
    contrast = contrast_of(assignor, ROOT)
    last, best = contrast.states[-1], contrast.best
    is_worse = any(line.is_worse(best.notes) for line in last.notes)
    assert last.refused or is_worse or len(contrast.states) > 2


def test_pictures_have_a_description() -> None:
    svg = picture_of(contrast_of("range", ROOT))
    assert "<title>range: loads 3, 0, 0; the optimum: loads 1, 1, 1, proved" in svg


@pytest.mark.heavy
def test_every_color_has_a_dark_color() -> None:
    for svg in drawn().values():
        used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', svg))
        assert used <= set(canvas.DARK)


@pytest.mark.parametrize("safeguard", [field.name for field in fields(Safeguards)])
def test_every_safeguard_is_shown_and_missed(safeguard: str) -> None:
    page = PAGES[ROOT / "docs/group-protocol.md"]
    name = safeguard.replace("_", "-")
    assert f"### `{safeguard}`" in page
    assert f"](images/group/without-{name}.svg)" in page
    held, dropped = with_and_without(safeguard, HISTORIES[safeguard])
    assert not is_broken(held)
    assert is_broken(dropped)


def is_broken(scene: Animation) -> bool:
    """Whether somewhere two may commit, or at the end nobody."""
    return any(
        any(frame.committers(partition) > 1 for frame in scene.frames)
        or not scene.frames[-1].committers(partition)
        for partition in scene.partitions
    )

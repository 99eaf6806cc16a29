"""All pictures, and their paths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from heuristics import ASSIGNORS
from tools.pictures.architecture import architecture
from tools.pictures.assignor_contents import contrast_of
from tools.pictures.lanes import timeline_of
from tools.pictures.panels import picture_of
from tools.pictures.quality_figures import stored_quality_pictures
from tools.pictures.scenes import (
    History,
    back_before_any_error,
    back_for_more,
    going_down,
    joining,
    looking_away,
    revoking_to_death,
    upgrade,
    with_and_without,
)

_IMAGES: Final = "docs/images"
HISTORIES: Final[dict[str, History]] = {
    "withholds": joining,
    "loses_to_eager": going_down,
    "loses_when_missed": back_before_any_error,
    "fences": looking_away,
    "leader_follows_up": revoking_to_death,
    "heeds_new_topics": back_for_more,
}
"""Safeguards, each with a history that needs it."""


def pictures(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path from the root of the checkout and the SVG of each picture."""
    yield f"{_IMAGES}/architecture.svg", architecture()
    for assignor in ASSIGNORS:
        path = f"{_IMAGES}/assignors/{assignor}.svg"
        yield path, picture_of(contrast_of(assignor, root))
    yield f"{_IMAGES}/group/rolling-upgrade.svg", timeline_of([upgrade()])
    for safeguard, history in HISTORIES.items():
        path = f"{_IMAGES}/group/without-{safeguard.replace('_', '-')}.svg"
        yield path, timeline_of(with_and_without(safeguard, history))
    for name, svg in stored_quality_pictures(root):
        yield f"{_IMAGES}/quality/{name}", svg

"""All pictures, and where they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from heuristics import ASSIGNORS
from tools.pictures.answers import contrast_of
from tools.pictures.panels import picture_of

_IMAGES: Final = "docs/images"


def pictures(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path, from the root of the checkout, and the SVG of each."""
    for assignor in ASSIGNORS:
        path = f"{_IMAGES}/assignors/{assignor}.svg"
        yield path, picture_of(contrast_of(assignor, root))

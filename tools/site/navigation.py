"""Read ``navigation.toml``: sections of the site, and pages below pages."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

FILE: Final = Path(__file__).with_name("navigation.toml")
TOCTREE: Final = "```{{toctree}}\n{options}\n{pages}\n```\n"


class NavigationError(ValueError):
    """A page that is listed twice, not at all, or that does not exist."""


class Tree(NamedTuple):
    """Pages below a page, as paths from the root of the checkout.

    Attributes
    ----------
    of : str
        The page; of a section of the site, the front page.
    title : str or None
        Heading over the links; None: only in the navigation.
    is_listed : bool
        Whether the page shows links to them.
    """

    of: str
    title: str | None
    is_listed: bool
    pages: list[str]

    def markdown(self) -> str:
        """Return the directive that adds the pages to the navigation."""
        options = "" if self.is_listed else ":hidden:\n"
        if self.title and not self.is_listed:
            options += f":caption: {self.title}\n"
        pages = "\n".join(f"/{page}" for page in self.pages)
        text = TOCTREE.format(options=options, pages=pages)
        return f"## {self.title}\n\n{text}" if self.is_listed else text


def trees(root: Path, front: str) -> list[Tree]:
    """Return the trees of the site, whose pages are files below ``root``.

    Raises
    ------
    NavigationError
        If a page or a pattern is in no file, or a page in two places.
    """
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    found = [
        Tree(front, section["title"], False, pages_of(root, section["pages"], front))
        for section in table["section"]
    ]
    for child in table["children"]:
        pages = pages_of(root, child["pages"], child["of"])
        found.append(Tree(child["of"], child.get("listed"), "listed" in child, pages))
    places = Counter(page for tree in found for page in tree.pages)
    if twice := [page for page, count in places.items() if count > 1]:
        raise NavigationError(f"in the navigation twice: {', '.join(twice)}")
    return found


def pages_of(root: Path, patterns: Sequence[str], parent: str) -> list[str]:
    """Return the files of patterns, each by name, without the page they are below."""
    return [
        page
        for pattern in patterns
        for page in _matches(root, pattern)
        if page != parent
    ]


def _matches(root: Path, pattern: str) -> Iterator[str]:
    found = sorted(path.relative_to(root).as_posix() for path in root.glob(pattern))
    if not found:
        raise NavigationError(f"in the navigation, but no page: {pattern}")
    yield from found

"""Copy the pages of the checkout to where Sphinx reads them, with generated ones.

Pages keep their places, so that relative links hold. ``README.md`` becomes the front
page ``index.md``. A linked file that is not a page is copied, too; a folder is linked
by its README, and is plain text where it has none.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from tools.site.navigation import NavigationError, trees

PAGES: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "recordings/**/*.md")
FOLDER: Final = "docs"
FRONT: Final = "index.md"

_LINK: Final = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE: Final = re.compile(r"^(```.*?^```\s*?$)", re.MULTILINE | re.DOTALL)


def stage(root: Path, target: Path, generated: Mapping[str, str]) -> None:
    """Write the source of the site to ``target``, which is replaced.

    Parameters
    ----------
    generated : mapping from str to str
        Further pages, by their path.

    Raises
    ------
    NavigationError
        If the navigation and the pages do not agree.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(root / FOLDER, target / FOLDER)
    pages = [path for pattern in PAGES for path in sorted(root.glob(pattern))]
    for path in (*pages, *sorted((root / FOLDER).rglob("*.md"))):
        name = path.relative_to(root).as_posix()
        _write(target / name, relinked(path.read_text("utf-8"), name, root, target))
    for name, text in generated.items():
        _write(target / name, text)
    (target / "README.md").rename(target / FRONT)
    found = trees(target, FRONT)
    listed = {FRONT, *(page for tree in found for page in tree.pages)}
    if missing := sorted({*_page_names(target)} - listed):
        raise NavigationError(f"not in the navigation: {', '.join(missing)}")
    for tree in found:
        with (target / tree.of).open("a", encoding="utf-8") as page:
            page.write("\n" + tree.markdown())


def relinked(text: str, name: str, root: Path, target: Path) -> str:
    """Return a page whose links lead to pages and files of the site."""

    def replace(found: re.Match[str]) -> str:
        words, link = found.groups()
        place, hash_, anchor = link.partition("#")
        if "://" in link or not place:
            return found[0]
        path = (root / name).parent / place
        if path.is_dir():
            if not (path / "README.md").is_file():
                return words
            path, place = path / "README.md", f"{place.rstrip('/')}/README.md"
        if path.resolve() == root / "README.md":
            place = (PurePosixPath(place).parent / FRONT).as_posix()
        elif path.suffix != ".md":
            _copy(path.resolve(), root, target)
        return f"[{words}]({place}{hash_}{anchor})"

    parts = _FENCE.split(text)
    return "".join(
        part if part.startswith("```") else _LINK.sub(replace, part) for part in parts
    )


def _copy(path: Path, root: Path, target: Path) -> None:
    """Copy a linked file, unless it is there or missing, which Sphinx reports."""
    place = target / path.relative_to(root)
    if path.is_file() and not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _page_names(target: Path) -> Iterator[str]:
    """Yield the pages of a staged site, by their path."""
    for ending in ("md", "ipynb"):
        for path in target.rglob(f"*.{ending}"):
            yield path.relative_to(target).as_posix()

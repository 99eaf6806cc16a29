"""Check a page: its facts by the tables, and its sentences by a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from oracle.report import page_of
from oracle.report.facts import Facts
from tests.oracle.report.advice_check import check_advice
from tests.oracle.report.checked_facts import check_facts
from tests.oracle.report.html_reading import Element, read_html
from tests.oracle.report.reading_prose import text_of
from tests.oracle.report.worst_cases import check_case
from tests.references.recount import Recount
from tests.support.snapshots import FOLDER, check_snapshot

BLOCKS = ("title", "h1", "h2", "h3", "p", "li", "figcaption", "summary", "pre")
SKIPPED = ("style", "script", "nav")
CASES = "case"
"""Class of the worst rebalances, each of which is checked against its own row."""
MADE = "Made by assignor oracle"


def sentences(root: Element) -> Iterator[str]:
    """Yield the text of each block; names from the input are in ``⟨⟩``.

    Of a table, yield each row; of a picture, its label, and the texts in it.
    """
    for element in root.children:
        classes = element.attributes.get("class", "").split()
        if element.tag in SKIPPED or (element.tag == "ul" and "legend" in classes):
            continue
        if element.tag == "table":
            yield text_of(element.one("caption"))
            for row in element.all("tr"):
                cells = (text_of(cell, links=True) for cell in row.children)
                yield f"| {' | '.join(cells)} |"
        elif element.attributes.get("role") == "img":
            texts = ["".join(_own(text)) for text in element.all("text")]
            yield f"[{element.attributes['aria-label']}] {' · '.join(texts)}"
        elif element.tag == "dl":
            terms = [part for part in element.all() if part.tag in ("dt", "dd")]
            for term, meaning in batched(map(text_of, terms), 2):
                yield f"{term} = {meaning}"
        elif element.tag in BLOCKS:
            yield text_of(element, links=True)
        else:
            yield from sentences(element)


def _own(element: Element) -> Iterator[str]:
    """Yield the text of an element that is not in one of its children."""
    return (piece for piece in element.content if isinstance(piece, str))


def batched(texts: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
    """Yield tuples of ``size`` texts, as `itertools.batched` does from Python 3.12."""
    one = iter(texts)
    return zip(*[one] * size, strict=True)


def check_all(root: Element, folder: Path) -> Facts:
    """Check the drawn rebalances and all advice; return the facts, checked too.

    Raises
    ------
    AssertionError
        If one is false.
    """
    tables = Recount(folder)
    for case in root.all("details", class_=CASES):
        check_case(case, tables)
    check_advice(root, tables)
    return check_facts(folder)


def check_page(
    name: str, folder: Path, *, command: str | None = None, beyond: str | None = None
) -> Facts:
    """Check the page of a folder, and compare its sentences with the snapshot.

    ``beyond`` is another snapshot: sentences that are in it are only counted.
    """
    root = read_html(page_of(folder, command=command))
    every = list(sentences(root))
    (made,) = (sentence for sentence in every if sentence.startswith(MADE))
    _check_made(made, Recount(folder))
    stated = [sentence for sentence in every if sentence != made]
    if beyond is not None:
        known = (FOLDER / f"page/{beyond}.txt").read_text("utf-8").splitlines()
        names = [part.attributes["aria-labelledby"] for part in root.all("section")]
        new = [sentence for sentence in stated if sentence not in known]
        same = f"and {len(stated) - len(new)} sentences that are in {beyond}.txt"
        stated = [f"sections: {', '.join(names)}", *new, same]
    check_snapshot(f"page/{name}.txt", "".join(f"{line}\n" for line in stated))
    return check_all(root, folder)


def _check_made(text: str, tables: Recount) -> None:
    """Check the sentence about the run, which differs from machine to machine."""
    versions, machine = tables.manifest["versions"], tables.manifest["machine"]
    gibibytes = round(machine["memory_bytes"] / 2**30)
    parts = [
        versions["assignor-oracle"],
        tables.manifest["finished"],
        f"{machine['system']}, {machine['cores']} cores, {gibibytes} GiB",
    ]
    names = ("python", "numpy", "pyarrow", "pyspark", "java")
    parts += [str(versions[name]) for name in names if name in versions]
    for part in parts:
        assert part in text, part
        text = text.replace(part, "", 1)
    assert not re.search(r"\d", text)

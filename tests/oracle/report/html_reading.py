"""Parse a page as a browser does, as far as the tests need."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "hr", "input"}


@dataclass
class Element:
    """An element, its attributes and all text in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list, repr=False)
    words: list[str] = field(default_factory=list, repr=False)
    content: list[Element | str] = field(default_factory=list, repr=False)
    """Its own text and its children, in order."""

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, tag: str | None = None, **attributes: str) -> list[Element]:
        """Find elements below this one, in order; ``class_`` matches one of several."""
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        found = []
        for child in self.children:
            if (tag is None or child.tag == tag) and child._matches(wanted):
                found.append(child)
            found.extend(child.all(tag, **attributes))
        return found

    def one(self, tag: str | None = None, **attributes: str) -> Element:
        (found,) = self.all(tag, **attributes)
        return found

    def _matches(self, wanted: dict[str, str]) -> bool:
        return all(
            value in self.attributes.get(key, "").split()
            if key == "class"
            else self.attributes.get(key) == value
            for key, value in wanted.items()
        )

    def rows(self) -> list[list[str]]:
        """Return the text of the cells of a table, row by row."""
        return [
            [cell.text for cell in row.children if cell.tag in ("th", "td")]
            for row in self.all("tr")
        ]


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("#root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(element)
        self.open[-1].content.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, (self.open[-1].tag, tag, self.getpos())
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)
        for element in self.open:
            element.words.append(data)


def read_html(text: str) -> Element:
    """Parse a page; every element must be closed correctly."""
    tree = _Tree()
    tree.feed(text)
    tree.close()
    assert [element.tag for element in tree.open] == ["#root"]
    return tree.root

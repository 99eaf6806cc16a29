"""The site of the documents: what is staged, generated, and rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance import AssignmentDocument, document_schema
from tools.site import navigation
from tools.site.formats import format_pages
from tools.site.links import broken_links
from tools.site.navigation import NavigationError
from tools.site.schema_page import schema_page
from tools.site.schema_types import type_of
from tools.site.stage import relinked, stage

ROOT = Path(__file__).resolve().parents[2]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkout with four pages, and its navigation."""
    root = tmp_path / "checkout"
    write(root / "README.md", "# Front\n\n[a](docs/a.md)\n")
    write(root / "CONTRIBUTING.md", "# Contributing\n")
    write(root / "CHANGELOG.md", "# Changelog\n")
    write(root / "docs" / "a.md", "# A\n\n[front](../README.md#front)\n")
    settings = '[[section]]\ntitle = "All"\npages = ["docs/*.md", "C*.md"]\n'
    write(root / "navigation.toml", settings + "[[children]]\nof='docs/a.md'\npages=[]")
    monkeypatch.setattr(navigation, "FILE", root / "navigation.toml")
    return root


def test_pages_are_staged_with_their_navigation(checkout: Path) -> None:
    target = checkout / "build"
    stage(checkout, target, {"docs/b.md": "# B\n"})
    assert (
        (target / "docs" / "a.md")
        .read_text()
        .startswith("# A\n\n[front](../index.md#front)\n")
    )
    front = (target / "index.md").read_text()
    assert front.startswith("# Front\n\n[a](docs/a.md)\n")
    pages = "/docs/a.md\n/docs/b.md\n/CHANGELOG.md\n/CONTRIBUTING.md\n```\n"
    assert front.endswith(f":hidden:\n:caption: All\n\n{pages}")


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ('["docs/a.md"]', "not in the navigation: CHANGELOG.md, CONTRIBUTING.md"),
        ('["*/*.md", "docs/a.md", "C*"]', "in the navigation twice: docs/a.md"),
        ('["docs/z.md"]', "in the navigation, but no page: docs/z.md"),
    ],
)
def test_navigation_and_pages_must_agree(
    checkout: Path, pages: str, reason: str
) -> None:
    settings = f'children = []\n[[section]]\ntitle = "All"\npages = {pages}\n'
    write(checkout / "navigation.toml", settings)
    with pytest.raises(NavigationError, match=reason):
        stage(checkout, checkout / "build", {})


def test_links_lead_to_what_the_site_has(tmp_path: Path) -> None:
    write(tmp_path / "README.md", "# Front\n")
    write(tmp_path / "corpus" / "one.json", "{}")
    write(tmp_path / "docs" / "many" / "README.md", "# Many\n")
    text = """
[x](../README.md) [y](many/#of) [z](../corpus/one.json) [f](../corpus) [e](https://e.org)
```
[x](../README.md)
```
[`a` [b]](many/README.md) [h](#here)
"""
    target = tmp_path / "build"
    assert (
        relinked(text, "docs/a.md", tmp_path, target)
        == """
[x](../index.md) [y](many/README.md#of) [z](../corpus/one.json) f [e](https://e.org)
```
[x](../README.md)
```
[`a` [b]](many/README.md) [h](#here)
"""
    )
    assert (target / "corpus" / "one.json").read_text() == "{}"


def test_broken_links_and_outside_files_are_found(tmp_path: Path) -> None:
    write(tmp_path / "a b.html", '<h1 id="x">A</h1><a href="sub/b.html#y">B</a>')
    write(
        tmp_path / "sub" / "b.html",
        '<p id="y"><a href="../a%20b.html#x">A</a><a href="https://e.org">E</a>'
        '<link rel="canonical" href="https://e.org"><img src="data:image/png;base64,">',
    )
    assert broken_links(tmp_path) == []
    write(
        tmp_path / "c.html",
        '<a href="#no"></a><a href="no.html"></a><a href="a%20b.html#no"></a>'
        '<script src="https://cdn.org/x.js"></script><img src="no.png">'
        '<link rel="stylesheet" href="//fonts.org/f.css">',
    )
    assert broken_links(tmp_path) == [
        "c.html: loads //fonts.org/f.css",
        "c.html: loads https://cdn.org/x.js",
        "c.html: no anchor #no",
        "c.html: no anchor a%20b.html#no",
        "c.html: no file no.html",
        "c.html: no file no.png",
    ]


def test_every_schema_has_a_page() -> None:
    pages = format_pages(ROOT)
    kept = [path.name for path in (ROOT / "docs" / "data").glob("*.schema.json")]
    made = [Path(name).name for name in pages if name.endswith(".json")]
    assert not {*kept} & {*made}
    names = {f"docs/formats/{name.partition('.')[0]}.md" for name in kept + made}
    assert {name for name in pages if name.endswith(".md")} == names
    for name in names:
        title = "/".join(Path(name).stem.rsplit("-", 1))
        assert pages[name].startswith(f"# `{title}`\n")


def test_a_page_has_every_field_with_type_and_meaning() -> None:
    schema = document_schema(AssignmentDocument)
    page = schema_page(schema, file="f.json", example="{}\n")
    for fields in (schema, *schema["$defs"].values()):
        for field in fields["properties"]:
            assert f"\n| `{field}` | " in page
    assert (
        "\n| `members` | name → name → list of integer ≥ 0 | yes | Partitions " in page
    )
    assert "\n| `price` | name → integer | yes | Cost of one more partition" in page
    assert "\n| `of` | string | yes | The objective in the text form of" in page
    assert "## Example\n\n```json\n{}\n```\n" in page


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "any value"),
        ({"const": "a/1"}, '`"a/1"`'),
        ({"enum": [1, 2]}, "`1` or `2`"),
        ({"type": "integer", "minimum": -1, "maximum": 2**31 - 1}, "integer ≥ -1"),
        ({"type": "integer", "minimum": 1 - 2**63, "maximum": 2**63 - 1}, "integer"),
        ({"type": "string", "pattern": "^x$"}, "string matching `^x$`"),
        ({"type": "array", "items": {"$ref": "#/$defs/Step"}}, "list of [Step](#step)"),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "list of string, at least 1",
        ),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, "null or true or false"),
        ({"type": "object"}, "object"),
        (
            {
                "type": "object",
                "additionalProperties": {"type": "number"},
                "propertyNames": {"enum": ["a"]},
            },
            '`"a"` → number',
        ),
    ],
)
def test_types_are_stated_in_words(schema: dict[str, object], words: str) -> None:
    assert type_of(schema) == words

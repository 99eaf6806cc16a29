"""Names can be any string; on the page, they are only text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.report import page_of
from tests.oracle.report.audits import Audit
from tests.oracle.report.html_reading import Element, read_html
from tests.oracle.report.scenes import BEST, RESTLESS, TWICE, even, small_audit

HOSTILE = (
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '"><svg/onload=alert(1)>',
    "' onmouseover='alert(1)",
    "]]><!--",
    "--><b>",
    "{{ 7 * 7 }}{% raw %}",
    "${alert(1)}",
    "&lt;b&gt;&amp;",
    "\u202egnissap\u2066",
    "zero\u200bwidth\ufeff",
    "new\nline\ttab\r",
    "\x1b[31mred\x07",
    "مرحبا بالعالم",
    "x" * 5000,
    "e" + "\u0301" * 300,
    "\U0001f600\ufffd",
    " ",
)
assert settings.default is not None
EXAMPLES = settings.default.max_examples
ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]")
ALLOWED = {
    "a", "bdi", "body", "br", "caption", "code", "dd", "details", "div", "dl", "dt",
    "em", "figcaption", "figure", "footer", "g", "h1", "h2", "h3", "head", "header",
    "html", "li", "line", "main", "meta", "nav", "p", "path", "pre", "rect", "script",
    "section", "span", "strong", "style", "summary", "svg", "table", "tbody", "td",
    "text", "th", "thead", "title", "tr", "ul",
}  # fmt: skip


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Rename members, topics and groups wherever they stand in a document."""
    if isinstance(value, dict):
        return {
            names.get(key, key): renamed(item, names) for key, item in value.items()
        }
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def audit_of(*given: str) -> Audit:
    """Put names wherever a name can stand, in turn if there are several."""
    name, member, topic, group, assignor, source, reason, record = (
        given[at % len(given)] for at in range(8)
    )
    audit = Audit(cluster=name[:20])  # a folder is named after it
    names = {
        "a": f"a{name}",
        "b": f"b{member}",
        "t": f"{topic}t",
        "orders": f"{group}o",
    }
    for generation, answer in enumerate((BEST, RESTLESS, TWICE), start=1):
        instance = renamed(even("orders", lag=[1, 2, 3, 4]), names)
        audit.rebalance(
            instance,
            {"actual": renamed(answer, names), "range": renamed(BEST, names)},
            generation=generation,
            assignor=f"sticky{assignor}",
        )
    audit.episode(
        renamed(even("orders"), names),
        renamed(RESTLESS, names),
        first=9,
        last=9,
        assignor=assignor,
    )
    audit.rows["rebalances"][0]["source"] = source
    audit.quarantine("unreadable", f"reason {reason}", 1, record=record)
    return audit


def injected(root: Element) -> list[str]:
    """List what no page of ours has: elements, handlers, references."""
    found = [element.tag for element in root.all() if element.tag not in ALLOWED]
    for element in root.all():
        for key, value in element.attributes.items():
            if key.startswith("on") or (key == "href" and not value.startswith("#")):
                found.append(f"{element.tag} {key}={value}")
    return found


def shape(root: Element) -> list[str]:
    """List the elements of a page, without those whose number depends on names."""
    return [
        element.tag
        for element in root.all()
        if element.tag not in {"g", "path", "text"}
    ]


@pytest.fixture(scope="module")
def tame(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = audit_of("name").write(tmp_path_factory.mktemp("tame") / "audit")
    return shape(read_html(page_of(folder, command="run")))


@pytest.mark.parametrize(
    "names",
    [
        *(HOSTILE[at : at + 4] for at in range(0, len(HOSTILE), 4)),
        *(pytest.param((name,), marks=pytest.mark.heavy) for name in HOSTILE),
    ],
)
def test_hostile_names_are_text(
    tmp_path: Path, names: tuple[str, ...], tame: list[str]
) -> None:
    """Each name in some places; with the heavy tests, each in every place."""
    command = f"run {' '.join(names)}"
    html = page_of(audit_of(*names).write(tmp_path / "audit"), command=command)
    root = read_html(html)
    assert injected(root) == []
    assert shape(root) == tame
    assert ACTING.search(html) is None
    assert len(html) < 500_000


@pytest.mark.heavy
@settings(
    max_examples=max(1, EXAMPLES // 20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_name_is_text(
    tmp_path_factory: pytest.TempPathFactory, tame: list[str], name: str
) -> None:
    folder = tmp_path_factory.mktemp("drawn") / "audit"
    root = read_html(page_of(audit_of(name).write(folder), command=name))
    assert injected(root) == []
    assert shape(root) == tame


@pytest.mark.heavy
def test_names_are_isolated_from_the_surrounding_text(tmp_path: Path) -> None:
    """A name written from right to left must not reorder the text next to it."""
    root = read_html(page_of(audit_of("مرحبا").write(tmp_path / "audit")))
    for element in root.all():
        if "مرحبا" in "".join(element.words) and not element.children:
            assert element.tag in {"bdi", "text", "code", "title", "script"}, element


@pytest.mark.heavy
def test_long_names_keep_both_ends_and_have_a_tooltip(tmp_path: Path) -> None:
    name = "consumer-" + "x" * 60 + "-5f0c"
    root = read_html(page_of(audit_of(name).write(tmp_path / "audit")))
    long = [element for element in root.all("bdi") if "…" in element.text]
    assert long
    assert any(element.text.startswith("aconsum") for element in long)
    assert any(element.text.endswith("-5f0c") for element in long)
    assert all(len(element.attributes["title"]) > len(element.text) for element in long)


@pytest.mark.heavy
def test_the_page_needs_nothing_from_anywhere(tmp_path: Path) -> None:
    html = page_of(small_audit().write(tmp_path / "audit"), command="run it")
    root = read_html(html)
    for element in root.all():
        assert element.tag not in {"link", "iframe", "img", "object", "base"}
        assert "src" not in element.attributes
        assert element.attributes.get("href", "#").startswith("#")
        assert not element.attributes.get("xlink:href", "").startswith("http")
    style = root.one("style").text
    assert "@import" not in style
    assert "url(" not in html
    policy = root.one("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy.attributes["content"].startswith("default-src 'none'")
    *data, script = root.all("script")
    assert {element.attributes["type"] for element in data} == {"application/json"}
    digest = hashlib.sha256("".join(script.words).encode()).digest()
    allowed = f"script-src 'sha256-{base64.b64encode(digest).decode()}'"
    assert allowed in policy.attributes["content"]
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@pytest.mark.heavy
def test_ids_are_unique_and_links_lead_somewhere(tmp_path: Path) -> None:
    root = read_html(page_of(small_audit().write(tmp_path / "audit")))
    ids = [
        element.attributes["id"] for element in root.all() if "id" in element.attributes
    ]
    assert len(ids) == len(set(ids))
    links = {element.attributes["href"].removeprefix("#") for element in root.all("a")}
    labels = {
        element.attributes["aria-labelledby"]
        for element in root.all()
        if "aria-labelledby" in element.attributes
    }
    assert links | labels <= set(ids)
    assert {
        link for link in links if not link.startswith(("group-", "rebalance-"))
    } == labels


@pytest.mark.heavy
def test_every_element_has_an_accessible_name(tmp_path: Path) -> None:
    root = read_html(page_of(small_audit().write(tmp_path / "audit")))
    assert root.one("html").attributes["lang"] == "en"
    assert len(root.all("h1")) == 1
    for table in root.all("table"):
        assert len(table.all("caption")) == 1
        assert all("scope" in head.attributes for head in table.all("th"))
    for drawn in root.all("svg"):
        assert drawn.attributes["aria-hidden"] == "true"
    for picture in root.all(role="img"):
        assert len(picture.attributes["aria-label"]) > 10
        assert len(picture.all("svg")) == 1
    assert len(root.all("svg")) == len(root.all(role="img"))


@pytest.mark.parametrize(
    "count", [1_000, pytest.param(50_000, marks=pytest.mark.heavy)]
)
def test_a_page_of_very_many_rebalances_stays_small(tmp_path: Path, count: int) -> None:
    """Rows are copied, not judged; each group has 25 rebalances."""
    audit = Audit()
    key = audit.rebalance(even("g"), {"actual": RESTLESS, "range": BEST})
    rows = {name: list(found) for name, found in audit.rows.items()}
    for table in ("rebalances", "answers"):
        audit.rows[table] = []
        for number in range(count):
            group, copy = (
                f"group-{number % (count // 25)}" + "y" * 200,
                f"{key}#{number}",
            )
            same = {"group_id": group, "rebalance_id": copy, "generation": number}
            audit.rows[table] += [row | same for row in rows[table]]
    html = page_of(audit.write(tmp_path / "audit"))
    assert len(html.encode()) < 2_000_000
    root = read_html(html)
    assert root.one("h1").text.endswith("needlessly in 25 rebalances.")
    assert json.dumps(root.one("head").one("title").text)

"""Texts for users keep the rules of prose in CONTRIBUTING that a pattern can find."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from io import StringIO
from itertools import groupby
from pathlib import Path
from tokenize import COMMENT, TokenInfo, generate_tokens
from typing import Any, Final

import pytest
import typer
from typer.core import TyperGroup

from oracle.cli.app import app
from tests.support.pages import ROOT

PHRASES: Final = {
    "a clause with what": r"\bwhat\b",
    "no for not": r"(?<!\bthere )\b(?:is|are|was|were) no\b",
    "none as a predicate": r"(?<!\bthere )\b(?:is|are|was|were) none\b",
    "as even": r"\bas even(?:ly)?\b",
    "besides": r"\bbesides\b",
    "made up": r"\bm(?:ade|ake|akes|aking) up\b",
}
"""Patterns, in any case. "There is no X" and "there is none" deny existence."""

ALLOWED: Final = {
    r"\bwhat[- ]if\b": "the name of a kind of question",
    r"\bwhat would be best\?": "a direct question, not a clause",
    r"\b(?:is|are|was|were) no (?:more|longer)\b": "an adverb: no longer",
    r"\bas evenly as possible\b": "a superlative, not a comparison without an object",
}
"""Phrases that a pattern finds although the rules allow them, and why."""

PACKAGES: Final = (
    "conformance",
    "heuristics",
    "oracle",
    "pipeline",
    "rebalance",
    "solver",
    "verify",
)
PAGES: Final = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "policies").glob("*.md")),
    *sorted((ROOT / "docs" / "quality").glob("*.md")),
    *sorted((ROOT / "docs" / "assignors").glob("*.md")),
    ROOT / "docs" / "recipes" / "README.md",
]
TEMPLATES: Final = [
    *sorted((ROOT / "oracle" / "report" / "templates").iterdir()),
    *sorted((ROOT / "studies" / "findings" / "templates").iterdir()),
]
SCHEMAS: Final = sorted((ROOT / "docs" / "data").glob("*.schema.json"))
DEFINITIONS: Final = sorted(
    (ROOT / "conformance" / "findings" / "definitions").glob("*.toml")
)
MODULES: Final = [
    path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))
]

DOCUMENTED: Final = [
    path
    for package in (*PACKAGES, "benchmarks", "studies", "tools")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "common-python" not in path.parts
]
PYTHON_WORDS: Final = r"\b(?:is|are) None\b|``what``"
"""A value and an argument, which docstrings name."""


def faults_of(text: str) -> list[str]:
    """Return each forbidden phrase of a text, with the words around it."""
    plain = " ".join(text.split())
    for allowed in ALLOWED:
        plain = re.sub(allowed, "…", plain, flags=re.IGNORECASE)
    return [
        f"{name}: {plain[max(0, found.start() - 40) : found.end() + 40]}"
        for name, phrase in PHRASES.items()
        for found in re.finditer(phrase, plain, re.IGNORECASE)
    ]


def prose_of(page: str) -> str:
    """Return a page without code and quoted phrases.

    CONTRIBUTING quotes the forbidden phrases in quotation marks.
    """
    without_blocks = re.sub(
        r"^ *```.*?^ *```", "", page, flags=re.DOTALL | re.MULTILINE
    )
    without_code = re.sub(r"`[^`]*`", "…", without_blocks)
    return re.sub(r'"[^"]{1,80}"', "…", without_code)


def template_texts(template: str) -> str:
    """Return the text of a template: expressions of Jinja are not prose."""
    return re.sub(r"\{%.*?%\}", "…", template, flags=re.DOTALL)


def _docstrings(tree: ast.Module) -> set[ast.expr]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def literals_of(source: str) -> Iterator[str]:
    """Yield the texts of a module that are not docstrings; values become "…".

    Errors, reasons, and sentences are among them, wherever they are put together.
    """
    tree = ast.parse(source)
    left_out = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "…"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and node not in left_out:
            text = str(node.value)
            if " " in text:
                yield text


def documentation_of(source: str) -> Iterator[str]:
    """Yield the docstrings and the comments of a module, without Python's words."""
    texts = [
        node.value.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    comments = [
        token
        for token in generate_tokens(StringIO(source).readline)
        if token.type == COMMENT
    ]
    blocks = groupby(enumerate(comments), lambda entry: _block_of(*entry))
    texts += [" ".join(token.string[1:] for _, token in block) for _, block in blocks]
    for text in texts:
        yield re.sub(PYTHON_WORDS, "…", " ".join(text.split()))


def _block_of(place: int, comment: TokenInfo) -> tuple[int, int]:
    """Return the same for the comments of one block: lines and places go in step."""
    row, column = comment.start
    return row - place, column


def descriptions_of(schema: Any) -> Iterator[str]:
    """Yield the descriptions in a JSON Schema."""
    if isinstance(schema, dict):
        if isinstance(text := schema.get("description"), str):
            yield text
        for value in schema.values():
            yield from descriptions_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from descriptions_of(value)


def helps() -> Iterator[str]:
    """Yield the help of every subcommand and of its parameters."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for command in group.commands.values():
        yield command.help or ""
        for parameter in command.params:
            yield getattr(parameter, "help", None) or ""


@pytest.mark.parametrize(
    "text",
    [
        "What is kept are at most 128 MiB",
        "the partitions are listed, and what they own",
        "true is no integer",
        "those are no batches",
        "If the text is none, it fails",
        "the loads are as even",
        "Files can be given besides.",
        "The rest is made up of claims.",
    ],
)
def test_a_forbidden_phrase_is_found(text: str) -> None:
    assert faults_of(text)
    assert faults_of("\n    ".join(text.split()))
    assert faults_of(text.upper())


@pytest.mark.parametrize(
    "text",
    [
        "Answer what-if questions",
        "there is no such group",
        "a claim that is no longer met",
        "true is not an integer",
        "Without partitions: there are none.",
        "whatever moves",
    ],
)
def test_an_allowed_phrase_is_not_found(text: str) -> None:
    assert faults_of(text) == []


def test_an_error_is_found_wherever_its_parts_are() -> None:
    source = '''
"""What is not a text for users."""
def fail(value, kind):
    """Raise what is no error."""
    raise ValueError(
        f"{value!r} is no "
        f"{kind}"
    )
'''
    texts = list(literals_of(source))
    assert texts == ["… is no …"]
    assert faults_of(texts[0])


def test_a_clause_is_found_in_docstrings_and_comments() -> None:
    source = '''
"""State what
is read; ``end`` is None at first."""
value = 1  # what
OTHER = 2
"""It is
no number."""
# The loads are
# as even.
'''
    found = [faults_of(text) for text in documentation_of(source)]
    assert [len(faults) for faults in found] == [1, 1, 1, 1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path) -> None:
    assert faults_of(prose_of(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_templates(template: Path) -> None:
    assert faults_of(template_texts(template.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.name)
def test_definitions_of_findings(path: Path) -> None:
    assert faults_of(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_descriptions_of_schemas(path: Path) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert [
        fault for text in descriptions_of(schema) for fault in faults_of(text)
    ] == []


def test_helps() -> None:
    texts = list(helps())
    assert len(texts) > 100
    assert [fault for text in texts for fault in faults_of(text)] == []


def test_texts_of_modules() -> None:
    found = {
        str(path.relative_to(ROOT)): faults
        for path in MODULES
        for text in literals_of(path.read_text(encoding="utf-8"))
        if (faults := faults_of(text))
    }
    assert found == {}


def test_docstrings_and_comments_of_modules() -> None:
    found = {
        str(path.relative_to(ROOT)): faults
        for path in DOCUMENTED
        for text in documentation_of(path.read_text(encoding="utf-8"))
        if (faults := faults_of(text))
    }
    assert found == {}

"""A page per JSON Schema: its fields and definitions, with types and meanings.

The schemas come from models, whose docstrings are their descriptions: paragraphs, and
fields in the section "Attributes" of the numpydoc format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tools.site.schema_types import Schema, type_of

_SECTION: Final = re.compile(r"^Attributes\n-+\n", re.MULTILINE)
_ENTRY: Final = re.compile(r"^(\S.*)\n((?:    .*\n?)+)", re.MULTILINE)
_COLUMNS: Final = ("field", "value", "required", "meaning")


def schema_page(schema: Schema, *, file: str, example: str | None) -> str:
    """Return the page of a format as Markdown.

    Parameters
    ----------
    file : str
        Path of the schema from the page.
    example : str, optional
        A document of the format.
    """
    parts = [f"# `{schema['title']}`", _prose(schema)]
    parts.append(
        f"[JSON Schema]({file}) · [all formats and what they mean](../documents.md)"
    )
    if example is not None:
        parts += ["## Example", f"```json\n{example.rstrip()}\n```"]
    parts += ["## Fields", *_body(schema)]
    for name, definition in sorted(schema.get("$defs", {}).items()):
        parts += [f"### {name}", _prose(definition), *_body(definition)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _body(schema: Schema) -> Iterator[str]:
    """Yield the table of an object's fields, or the type of another value."""
    fields = schema.get("properties")
    if not fields:
        has_none = schema.get("type") == "object"
        yield "No fields." if has_none else type_of(schema)
        return
    meanings = _meanings(schema.get("description", ""))
    required = set(schema.get("required", ()))
    rows = [
        (
            f"`{name}`",
            type_of(field),
            "yes" if name in required else "",
            _meaning(field, meanings.get(name, "")).replace("|", "\\|"),
        )
        for name, field in fields.items()
    ]
    is_described = any(meaning for *_, meaning in rows)
    columns = len(_COLUMNS) if is_described else len(_COLUMNS) - 1
    lines = [_COLUMNS, ("---",) * len(_COLUMNS), *rows]
    yield "\n".join(f"| {' | '.join(line[:columns])} |" for line in lines)


def _meaning(field: Schema, documented: str) -> str:
    """Return the facts of a field, with a default that is not an empty value."""
    text = field.get("description", documented)
    default = field.get("default")
    if default and "const" not in field:
        text += f" Default: `{default}`."
    return " ".join(text.split())


def _prose(schema: Schema) -> str:
    """Return the paragraphs of a description, before the fields."""
    return _SECTION.split(schema.get("description", ""))[0].strip()


def _meanings(description: str) -> dict[str, str]:
    """Return the meanings of fields; several fields can share one."""
    fields = "".join(_SECTION.split(description)[1:])
    return {
        name: " ".join(text.split())
        for names, text in _ENTRY.findall(fields + "\n")
        for name in names.split(", ")
    }

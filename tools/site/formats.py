"""The formats that have a JSON Schema, with an example of each from the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rebalance import AssignmentDocument, Rebalance, document_schema
from tools.site.schema_page import schema_page

DATA: Final = "docs/data"
FORMATS: Final = "docs/formats"

_JSON: Final = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_END: Final = ".schema.json"


def format_pages(root: Path) -> dict[str, str]:
    """Return pages and further schemas, by their path in the site."""
    found: dict[str, str] = {}
    for model in (Rebalance, AssignmentDocument):
        schema = document_schema(model)
        found[f"{DATA}/{file_of(schema)}"] = json.dumps(schema, indent=2) + "\n"
    kept = sorted((root / DATA).glob(f"*{_END}"))
    texts = [*found.values(), *(path.read_text(encoding="utf-8") for path in kept)]
    schemas = [json.loads(text) for text in texts]
    shown = dict(examples(root))
    for schema in schemas:
        file = file_of(schema)
        found[f"{FORMATS}/{file.removesuffix(_END)}.md"] = schema_page(
            schema, file=f"../data/{file}", example=shown.get(schema["title"])
        )
    return found


def file_of(schema: dict[str, Any]) -> str:
    """Return the name of a schema's file: ``plan-1.schema.json`` of ``plan/1``."""
    return str(schema["title"]).replace("/", "-") + _END


def examples(root: Path) -> Iterator[tuple[str, str]]:
    """Yield format and text of the documents that pages show; later ones first."""
    pages = [*sorted((root / "docs").glob("*.md")), root / "docs" / "documents.md"]
    for page in pages:
        for text in reversed(_JSON.findall(page.read_text(encoding="utf-8"))):
            yield json.loads(text).get("format", ""), text

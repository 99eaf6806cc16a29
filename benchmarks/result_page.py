"""Write measured results into a page of ``docs/``, between two marks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

START: Final = "<!-- measured: start -->"
END: Final = "<!-- measured: end -->"


def write_into(page: Path, part: str) -> None:
    """Replace the text between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{START}\n\n{part}\n{END}{after}", encoding="utf-8")

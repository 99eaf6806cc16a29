"""Output: standard output, or a file that appears once it is complete."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from oracle.cli.printing.terminal import harmless, is_terminal
from oracle.writing import OutputWriter, replacing
from rebalance import OutputError

STDOUT: Final = "-"
STDOUT_NAME: Final = "<stdout>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """An open output; ``for_people`` means tables instead of JSON."""

    writer: OutputWriter
    on_terminal: bool
    for_people: bool

    def write_text(self, text: bytes) -> None:
        """Write text from `terminal.printed`."""
        self.writer.write(text)

    def write_document(self, document: Mapping[str, Any] | bytes) -> None:
        """Write one line of JSON, keys sorted, UTF-8."""
        text = document.decode() if isinstance(document, bytes) else _json(document)
        shown = harmless(text) if self.on_terminal else text
        self.writer.write(shown.encode() + b"\n")


@contextmanager
def opened_sink(output: str, *, as_json: bool) -> Iterator[Sink]:
    """Open a file, or standard output for ``-``.

    Raises
    ------
    OutputError
        If it cannot be written to; an existing file is then unchanged.
    """
    if output != STDOUT:
        with replacing(Path(output)) as writer:
            yield Sink(writer=writer, on_terminal=False, for_people=False)
        return
    if sys.stdout is None or sys.stdout.closed:
        raise OutputError("cannot write: is closed", target=STDOUT_NAME)
    on_terminal = is_terminal(sys.stdout)
    yield Sink(
        writer=OutputWriter(sys.stdout.buffer, STDOUT_NAME),
        on_terminal=on_terminal,
        for_people=on_terminal and not as_json,
    )


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(
        document, sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )

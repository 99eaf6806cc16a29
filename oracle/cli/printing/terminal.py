"""Terminal output: messages, tables, progress; input text is always escaped."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

from oracle.names import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

    from oracle.cli.printing.parts import Part

PATIENCE: Final = 1.0
"""Seconds of silence before progress is shown."""

_WIDTH_OF_TEXT: Final = 120  # columns of a table that goes to a file
_ACTING: Final = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f]")


def complain(message: str, *more: str) -> None:
    """Write one line to standard error, if it is open; ``more`` are further lines."""
    lines = (f"assignor-oracle: {visible(message)}", *map(visible, more))
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()


def say(line: str) -> None:
    """Write a line to standard error that is not a complaint."""
    import typer

    typer.echo(visible(line), err=True)


def is_terminal(stream: IO[str] | None) -> bool:
    """Return whether the stream is a terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def harmless(json_text: str) -> str:
    """Escape control characters; the JSON has the same meaning."""
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)


def printed(*parts: Part) -> bytes:
    """Render tables and lines for standard output, as text in its encoding.

    A terminal has its own layout; elsewhere tables are separated by tabs (`parts`).
    """
    if is_terminal(sys.stdout):
        text = _for_terminal(parts)
    else:
        plain = (part if isinstance(part, str) else part.plain for part in parts)
        text = "".join(f"{line}\n" for line in plain)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, errors="backslashreplace")


def _for_terminal(parts: Sequence[Part]) -> str:
    console = console_of(sys.stdout)
    with console.capture() as captured:
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, str))
    return captured.get()


@contextmanager
def working(what: str, *, before_output: bool = False) -> Iterator[Callable[[], None]]:
    """Show progress on standard error after one second.

    Yields a function that counts one more item. Shown only on a terminal, and not if
    the output goes to the same terminal, unless all of it is written afterwards
    (``before_output``).
    """
    mixes = is_terminal(sys.stdout) and not before_output
    if mixes or not is_terminal(sys.stderr):
        yield lambda: None
        return
    from rich.progress import SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    done = TextColumn("{task.completed:,.0f} done")
    with late_bar(*columns, done) as bar:
        task = bar.add_task(what, total=None)
        yield lambda: bar.advance(task)


@contextmanager
def late_bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """Show a bar on standard error after one second, and remove it at the end."""
    from rich.progress import Progress, TimeElapsedColumn

    console = console_of(sys.stderr)
    bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
    start = threading.Timer(PATIENCE, bar.start)
    start.daemon = True
    start.start()
    try:
        yield bar
    finally:
        start.cancel()
        start.join()
        if bar.live.is_started:
            bar.stop()


def console_of(stream: IO[str]) -> Console:
    """Build a console without markup, emoji, and highlighting."""
    from rich.console import Console

    seen = is_terminal(stream)
    return Console(
        file=stream,
        markup=False,
        emoji=False,
        highlight=False,
        width=None if seen else _WIDTH_OF_TEXT,
        soft_wrap=False,
    )

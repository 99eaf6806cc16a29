"""Progress of an audit: a bar on a terminal, otherwise one line per phase."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from oracle.cli.printing.terminal import console_of, is_terminal

Progress = Callable[[str, int, int], None]
_PHASES: Final = {"read": "reading", "judge": "judging", "write": "writing"}


@contextmanager
def shown_progress(*, is_quiet: bool = False) -> Iterator[Progress]:
    """Show a bar per phase on standard error; without a terminal, one line each.

    ``is_quiet`` shows nothing without a terminal.
    """
    if not is_terminal(sys.stderr):
        yield _nothing if is_quiet else _lines()
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
    with Bars(
        *columns, TimeElapsedColumn(), console=console_of(sys.stderr), transient=True
    ) as bars:
        task = bars.add_task("starting Spark", total=None)

        def show(phase: str, done: int, total: int) -> None:
            words = _PHASES.get(phase, f"writing the {phase}")
            bars.update(task, description=words, completed=done, total=total)

        yield show


def _nothing(_phase: str, _done: int, _total: int) -> None:
    """Show no progress."""


def _lines() -> Progress:
    shown: set[str] = set()

    def show(phase: str, _done: int, _total: int) -> None:
        if phase not in shown and sys.stderr is not None:
            shown.add(phase)
            words = _PHASES.get(phase, f"writing the {phase}")
            print(f"assignor-oracle: {words}", file=sys.stderr, flush=True)

    return show

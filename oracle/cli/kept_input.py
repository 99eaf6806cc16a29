"""Refuse to write an output over a file that the same command reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, Final

import typer

_PARAMETERS: Final[ContextVar[Mapping[str, Any] | None]] = ContextVar(
    "parameters of the running command", default=None
)


def noting_parameters(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the command, whose parameters `refuse_input` then knows."""

    @wraps(verb)
    def noted(**parameters: Any) -> None:
        _PARAMETERS.set(parameters)
        verb(**parameters)

    return noted


def refuse_input(target: Path | str, parameter: str) -> None:
    """Check that an output is none of the files that the other parameters name.

    Links to one file are that file. Outside a command, nothing is checked.

    Parameters
    ----------
    target
        Where output is written.
    parameter
        Name of the parameter that states it.

    Raises
    ------
    typer.BadParameter
        If the command reads this file.
    """
    for name, stated in (_PARAMETERS.get() or {}).items():
        values = stated if isinstance(stated, list | tuple) else [stated]
        if name != parameter and any(_is_same(value, target) for value in values):
            reason = f"{target} is read by this command: write to another file"
            raise typer.BadParameter(reason)


def _is_same(value: object, target: Path | str) -> bool:
    if not isinstance(value, str | Path):
        return False
    try:
        return Path(target).is_file() and Path(value).samefile(target)
    except (OSError, ValueError):  # a name, a policy, or the like
        return False

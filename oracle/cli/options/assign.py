"""Options of ``assign``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from oracle.cli.options.common import (
    AnswerOptions,
    RebalancesArgument,
)


def _names() -> list[str]:
    from heuristics import ASSIGNORS

    return list(ASSIGNORS)


def _known_assignor(name: str) -> str:
    if name not in _names():
        raise typer.BadParameter(
            f"{name!r} is not an assignor; there are: {', '.join(_names())}"
        )
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignOptions(AnswerOptions):
    """Options of ``assign``."""

    file: RebalancesArgument
    assignor: Annotated[
        str,
        typer.Option(
            callback=_known_assignor,
            autocompletion=_names,
            metavar="NAME",
            help="A published algorithm, by name; an unknown name lists all of them.",
        ),
    ]
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help='Write {"error": "why"} for a rebalance without an answer, so that '
            "each has a line.",
        ),
    ] = False

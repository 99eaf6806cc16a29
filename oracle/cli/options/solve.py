"""Options of ``solve``, and how policies are stated."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from oracle.cli.options.common import (
    AnswerOptions,
    OptionalRebalancesArgument,
)
from oracle.cli.options.group_choice import GroupChoice
from oracle.cli.options.limit_options import Allowed


def _named_policies() -> dict[str, str]:
    """Read name and optimum from the solver's table, without importing the solver.

    Importing it takes a second, for which ``--help`` should not wait.
    """
    table = Path(__file__).parents[3] / "solver" / "policy" / "named.toml"
    rows = tomllib.loads(table.read_text(encoding="utf-8"))
    return {name: row["optimum"] for name, row in rows.items()}


POLICIES: Final = _named_policies()
"""Named policies, and the objectives of each."""

EngineName = Literal["auto", "cp-sat", "highs"]

PolicyOption = Annotated[
    str,
    typer.Option(
        autocompletion=lambda: list(POLICIES.items()),
        metavar="NAME|SPEC",
        help="A name: "
        + "; ".join(f"{name} ({optimum})" for name, optimum in POLICIES.items())
        + ". Or a policy in text form, 'per-topic; peak-lag, stickiness; max-moves=3'.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions(AnswerOptions):
    """Options of ``solve``."""

    file: OptionalRebalancesArgument = None
    choice: GroupChoice
    policy: PolicyOption = "sticky"
    engine: Annotated[
        EngineName,
        typer.Option(
            help="auto: the fastest engine that can prove the policy. The others solve "
            "every policy as integer programs."
        ),
    ] = "auto"
    allowed: Allowed

"""The subcommands of ``assignor-oracle``; each imports what it needs when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from oracle.cli.options.file_roles import with_kept_input
from oracle.cli.options.values import with_option_values
from oracle.cli.verbs.assign import assign
from oracle.cli.verbs.audit import audit
from oracle.cli.verbs.compare import compare
from oracle.cli.verbs.conform import conform
from oracle.cli.verbs.corpus import corpus
from oracle.cli.verbs.explain import explain
from oracle.cli.verbs.front import front
from oracle.cli.verbs.fuzz import fuzz
from oracle.cli.verbs.judge import judge
from oracle.cli.verbs.plan import plan
from oracle.cli.verbs.snapshot import snapshot
from oracle.cli.verbs.solve import solve

app = typer.Typer(
    name="assignor-oracle",
    # Plain help: importing rich's formatter takes longer than all the rest.
    # Paragraphs are joined before they are wrapped, so that nothing is wrapped twice.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"assignor-oracle {version('assignor-oracle')}")
        raise typer.Exit


@app.callback()
def assignor_oracle(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Find the best assignment for a rebalance of a Kafka consumer group, with a proof.

    Judge and compare every other assignment, and every assignor, with it.

    Exit codes: 0 success, 1 negative result, 2 usage error or unreadable input, 3
    failure of an external component, 130 interrupted, 143 terminated, 129 hung up.
    """


def summary_of(verb: Callable[..., None]) -> str:
    """Return the first paragraph of a subcommand's help as one line."""
    return " ".join((verb.__doc__ or "").split("\n\n")[0].split())


_DECLARED: Final[tuple[Callable[..., None], ...]] = (
    solve,
    assign,
    judge,
    compare,
    explain,
    front,
    plan,
    conform,
    fuzz,
    corpus,
    audit,
    snapshot,
)
VERBS: Final = tuple(map(with_option_values, _DECLARED))
for verb in VERBS:
    # The whole sentence, which is wrapped; a default summary would be cut.
    app.command(short_help=summary_of(verb))(with_kept_input(verb))

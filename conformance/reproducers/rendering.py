"""Render a case as a self-contained test in the language of its client."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from conformance.reproducers.asserted_property import asserted_property
from conformance.reproducers.case import ReproducerCase
from conformance.reproducers.go_imports import go_imports
from conformance.reproducers.literals import FILTERS, comment
from conformance.reproducers.reproducer_targets import ReproducerTarget, target_of
from conformance.runs import MOST_ROUNDS

SECONDS: Final = 10
"""Time after which a reproducer counts an answer as a hang."""

REPEATS: Final = 200
"""Runs of an assignor whose answer differs from run to run."""

WIDTH: Final = 80
ABOUT: Final = 300  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproducer:
    """A rendered test: its files by name, the test itself first.

    Attributes
    ----------
    commands : tuple of str
        Shell commands that install the client and run the test.
    """

    case: ReproducerCase
    language: str
    files: Mapping[str, str]
    commands: tuple[str, ...]

    @property
    def file(self) -> str:
        """Name of the test file."""
        return next(iter(self.files))

    @property
    def command(self) -> str:
        """All commands in one."""
        return " && ".join(self.commands)


def render(case: ReproducerCase) -> Reproducer:
    """Render a case; equal cases give equal bytes.

    Raises
    ------
    NoReproducerError
        If there is no template for the client.
    MissingExtraError
        If the template engine is not installed.
    """
    target = target_of(case)
    template = _environment().get_template(target.template)
    text = template.render(
        case=case,
        check=asserted_property(case),
        header=tuple(_header(case, target)),
        imports=go_imports,
        seconds=SECONDS,
        rounds=MOST_ROUNDS,
        runs=_runs(case),
        **target.names,
    )
    return Reproducer(
        case=case,
        language=target.language,
        files={target.file: text, **target.beside},
        commands=target.commands,
    )


def _runs(case: ReproducerCase) -> int:
    """Return how often the assignor is called: Go iterates over maps in any order."""
    return (
        REPEATS
        if case.assignor.language == "Go" and not case.assignor.deterministic
        else 1
    )


def _header(case: ReproducerCase, target: ReproducerTarget) -> Iterator[str]:
    assignor = case.assignor
    named = f"{assignor.client} {assignor.version}, assignor {assignor.assignor}"
    yield from _wrapped(f"{named}: {case.category.value}.")
    if about := case.about.partition("\n")[0][:ABOUT].strip():  # no stack trace
        yield from _wrapped(f"{about}.")
    yield ""
    yield "Run it with"
    yield ""
    yield from (f"    {command}" for command in target.commands)


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(
        comment(line), WIDTH, break_long_words=False, break_on_hyphens=False
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("conformance.reproducers"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  # source code, not HTML
    )
    environment.filters.update(FILTERS)
    return environment

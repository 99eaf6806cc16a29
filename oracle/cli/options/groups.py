"""Options that belong together, stated once as a dataclass.

A command has a parameter of the dataclass; `with_option_groups` gives typer one option
per field instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Final, get_type_hints

from oracle.cli.options.common import (
    ConfigOption,
    FromGroupOption,
    FromOption,
    GenerationOption,
    GroupNameOption,
)
from oracle.cli.options.limits import Allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChoice:
    """One group of a source; `oracle.cli.input.given_group` reads it."""

    source: FromOption = None
    group: FromGroupOption = None
    group_name: GroupNameOption = None
    generation: GenerationOption = None
    config: ConfigOption = None


_GROUPS: Final = (GroupChoice, Allowed)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a group of options by the options, in its place.

    Parameters
    ----------
    command : callable
        A subcommand whose parameters have no name of a field of its groups.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if hint in _GROUPS}
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        if one.name in groups:
            parameters += _options_of(groups[one.name])
        else:
            parameters.append(one.replace(annotation=hints[one.name]))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            options = {one.name: given.pop(one.name) for one in fields(group)}
            given[name] = group(**options)
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _options_of(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=hints[one.name],
        )
        for one in fields(group)
    ]

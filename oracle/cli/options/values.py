"""Options as one value: a subcommand takes a dataclass, typer a parameter per field.

A field has the annotation that typer reads and the default value, so that an option is
stated once. A field whose type is such a dataclass stands for the options of that one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from functools import wraps
from typing import Any, get_type_hints

from typer.models import OptionInfo

from oracle.cli.options.times import time_words


def with_option_values(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a dataclass by its fields, in its place.

    Parameters
    ----------
    command : callable
        A subcommand; the fields of its parameters have different names.
    """
    hints = get_type_hints(command)
    values = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = [
        parameter
        for kind in values.values()
        if isinstance(kind, type)
        for parameter in _parameters_of(kind)
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        command(**{name: _value(kind, given) for name, kind in values.items()})

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {
        parameter.name: parameter.annotation for parameter in parameters
    }
    return run


def _parameters_of(kind: type) -> Iterator[inspect.Parameter]:
    for option, hint in _hinted_fields(kind):
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _parameters_of(hint)
            continue
        missing = option.default is MISSING
        yield inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if missing else option.default,
            annotation=hint,
        )


def _value(kind: Any, given: Mapping[str, Any]) -> Any:
    return kind(
        **{
            option.name: _value(hint, given)
            if isinstance(hint, type) and is_dataclass(hint)
            else given[option.name]
            for option, hint in _hinted_fields(kind)
        }
    )


def _hinted_fields(kind: type) -> Iterator[tuple[Field[Any], Any]]:
    """Yield the fields and their types; those of a base class are the last."""
    hints = get_type_hints(kind, include_extras=True)
    base: Any = kind.__base__
    shared = [option.name for option in fields(base)] if is_dataclass(base) else []
    for option in sorted(fields(kind), key=lambda option: option.name in shared):
        yield option, hints[option.name]


def stated_options(
    value: Any, names: Iterable[str], *, always: Iterable[str] = ()
) -> list[str]:
    """Return the words of a command line that state options as a value has them.

    Parameters
    ----------
    value : dataclass
        The options of a subcommand.
    names : iterable of str
        Fields, in the order of the words; a default value takes no words.
    always : iterable of str
        Fields that are stated with their default values, too.
    """
    known = {
        option.name: (option, hint) for option, hint in _hinted_fields(type(value))
    }
    words: list[str] = []
    for name in names:
        option, hint = known[name]
        given = getattr(value, name)
        if given is None or (given == option.default and name not in always):
            continue
        words += _words(_option_names(name, hint), given)
    return words


def _option_names(name: str, hint: Any) -> list[str]:
    """Return the names of an option; of a switch with two, that for yes first."""
    for extra in hint.__metadata__:
        if isinstance(extra, OptionInfo) and isinstance(extra.default, str):
            return extra.default.split("/")  # typer's first argument in annotations
    return [f"--{name.replace('_', '-')}"]


def _words(names: list[str], given: Any) -> Iterator[str]:
    if isinstance(given, bool):
        yield names[not given]
        return
    for element in given if isinstance(given, list) else [given]:
        text = time_words(element) if isinstance(element, datetime) else str(element)
        is_float = isinstance(element, float)
        yield from (names[0], text.removesuffix(".0") if is_float else text)

"""Options as one value: what typer is given, what a subcommand gets, what is stated.

Reaches into ``oracle.cli`` because only its subcommands use these functions.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from conformance.runs import MEMORY
from oracle.cli.app import VERBS
from oracle.cli.options import common, subject_options
from oracle.cli.options.common import ClaimRuleName
from oracle.cli.options.conform import ConformOptions
from oracle.cli.options.durations import parse_duration
from oracle.cli.options.front import BalanceName
from oracle.cli.options.fuzz import FuzzOptions
from oracle.cli.options.limit_options import parse_seconds, parse_size
from oracle.cli.options.solve import POLICIES, EngineName
from oracle.cli.options.values import stated_options, with_option_values
from rebalance import MAX_PARTITIONS, ClaimRule
from solver import NAMED, BalanceKind, Engine
from solver.policy import OPTIMA


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """Options within options."""

    depth: Annotated[int, typer.Option("--depth", min=0)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """One of each kind of option."""

    file: Annotated[str, typer.Argument()]
    inner: Inner
    wanted: Annotated[bool | None, typer.Option("--wanted/--unwanted")] = None
    careful: Annotated[bool, typer.Option("--careful/--careless")] = True
    names: Annotated[list[str] | None, typer.Option("--name")] = None
    seconds: Annotated[float, typer.Option()] = 10.0
    size_max: Annotated[int, typer.Option(metavar="N")] = 7

    def __post_init__(self) -> None:
        if self.size_max == 8:
            raise typer.BadParameter("8 is not a size")


ALL = ("file", "wanted", "careful", "names", "seconds", "size_max")


def parsed(*arguments: str) -> tuple[Options | None, int, str]:
    """Return the value that a subcommand gets, the exit code, and the output."""
    found: list[Options] = []

    def command(options: Options) -> None:
        """Do it."""
        found.append(options)

    app = typer.Typer()
    app.command()(with_option_values(command))
    ended = CliRunner().invoke(app, list(arguments))
    return (found[0] if found else None), ended.exit_code, ended.output


def test_a_subcommand_gets_one_value_with_the_defaults_of_its_fields() -> None:
    assert parsed("f") == (Options(file="f", inner=Inner()), 0, "")


def test_options_within_options_are_options_of_the_subcommand() -> None:
    found, _, _ = parsed("f", "--depth", "3", "--size-max", "9")
    assert found == Options(file="f", inner=Inner(depth=3), size_max=9)


def test_a_field_without_a_default_is_required() -> None:
    found, code, _ = parsed()
    assert (found, code) == (None, 2)


def test_a_value_that_rejects_its_fields_is_a_usage_error() -> None:
    found, code, output = parsed("f", "--size-max", "8")
    assert (found, code) == (None, 2)
    assert "8 is not a size" in output


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--wanted"],
        ["--unwanted"],
        ["--careless"],
        ["--name", "a b", "--name", "--c"],
        ["--name", "v1.0"],
        ["--seconds", "3"],
        ["--seconds", "0.25", "--size-max", "1"],
    ],
)
def test_a_value_states_the_options_that_it_was_made_of(words: list[str]) -> None:
    found, _, _ = parsed("f", *words)
    assert found is not None
    assert stated_options(found, ALL[1:]) == words
    again, _, _ = parsed("f", *shlex.split(shlex.join(stated_options(found, ALL[1:]))))
    assert again == found


def test_a_default_is_stated_on_request() -> None:
    value = Options(file="f", inner=Inner())
    assert stated_options(value, ["seconds"], always=["seconds"]) == ["--seconds", "10"]


def test_every_subcommand_has_one_value_of_options() -> None:
    for verb in VERBS:
        (kind,) = (
            hint
            for name, hint in get_type_hints(verb.__wrapped__).items()  # type: ignore[attr-defined]
            if name != "return"
        )
        assert is_dataclass(kind), verb
        assert _leaves(kind) == list(verb.__annotations__), verb


def _leaves(kind: Any) -> list[str]:
    """Return the names of the options; those of a base class are the last."""
    hints, base = get_type_hints(kind), kind.__base__
    shared = [option.name for option in fields(base)] if is_dataclass(base) else []
    return [
        name
        for option in sorted(fields(kind), key=lambda option: option.name in shared)
        for name in (
            _leaves(hints[option.name])
            if is_dataclass(hints[option.name])
            else [option.name]
        )
    ]


def test_options_offer_what_the_packages_have() -> None:
    """They are declared again, because imports would slow down ``--help``."""
    assert get_args(ClaimRuleName) == tuple(rule.value for rule in ClaimRule)
    assert common.MAX_PARTITIONS == MAX_PARTITIONS
    assert POLICIES == OPTIMA
    assert NAMED.keys() == OPTIMA.keys()
    assert set(get_args(EngineName)) == {engine.value for engine in Engine}
    assert subject_options.MEMORY == MEMORY
    kinds = {"none", "per-topic", "dec-min"}  # those that a frontier can have
    assert set(get_args(BalanceName)) == kinds < {kind.value for kind in BalanceKind}


def test_options_of_conform_and_fuzz_are_declared_once() -> None:
    """``--client`` can be repeated with ``conform``; outputs are different files.

    The default of ``--count`` depends on ``--time``, which only ``fuzz`` has.
    """
    ours = get_type_hints(FuzzOptions, include_extras=True)
    theirs = get_type_hints(ConformOptions, include_extras=True)
    both = ours.keys() & theirs.keys()
    both -= {"client", "count", "output", "as_json", "return"}
    assert {"command", "cooperative", "family", "seed", "require"} < both
    assert [name for name in sorted(both) if ours[name] != theirs[name]] == []


def test_sizes_seconds_and_durations() -> None:
    sizes = {"1": 1, "2GiB": 2**31, "500MiB": 500 * 2**20, "3 kb": 3000, "4b": 4}
    assert {text: parse_size(text) for text in sizes} == sizes
    assert parse_seconds("0.5") == 0.5
    durations = {"90": 90, "90s": 90, " 1.5 m": 90, "2h": 7200, "1d": 86400}
    assert {text: parse_duration(text) for text in durations} == durations

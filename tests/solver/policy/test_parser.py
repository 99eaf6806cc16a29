"""The text form of policies: meaning, and error messages."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance import OracleError, PolicyError
from solver import (
    NAMED,
    Balance,
    BalanceKind,
    Objective,
    Policy,
    WeightedObjective,
    no_balance,
    parse_policy,
)
from solver.policy import WEIGHT_MAX, dec_min, kip54, per_topic
from tests.support.snapshots import TESTS


def spread(most: int) -> Balance:
    return Balance(kind=BalanceKind.SPREAD, most=most)


PLAIN = [objective for objective in Objective if objective is not Objective.LOAD]


@st.composite
def sums(draw: st.DrawFn) -> WeightedObjective:
    if draw(st.integers(0, 5)) == 0:
        return WeightedObjective.of(Objective.LOAD)
    objectives = draw(st.lists(st.sampled_from(PLAIN), min_size=1, unique=True))
    weights = st.one_of(st.just(1), st.integers(1, WEIGHT_MAX))
    return WeightedObjective(
        terms=tuple((draw(weights), objective) for objective in objectives)
    )


def alone(level: WeightedObjective) -> object:
    return level.only or level


policies = st.builds(
    Policy,
    balance=st.one_of(
        st.sampled_from([dec_min, kip54, per_topic, no_balance]),
        st.builds(spread, st.integers(0, 2**63 - 1)),
    ),
    objectives=st.lists(sums(), max_size=4, unique_by=alone).map(tuple),
    max_moves=st.one_of(st.none(), st.integers(0, 2**63 - 1)),
)


@given(policies)
def test_what_is_written_reads_back(policy: Policy) -> None:
    assert parse_policy(str(policy)) == policy


def read(text: str) -> Policy | PolicyError:
    try:
        return parse_policy(text)
    except PolicyError as error:
        return error


def check_read(text: str) -> None:
    found = read(text)
    if isinstance(found, Policy):
        assert parse_policy(str(found)) == found
        return
    assert found.reason
    assert str(found).startswith("policy: ")
    assert found.start is None or 0 <= found.start <= len(text)
    assert found.length >= 1


@given(st.text(max_size=40))
def test_any_text_is_a_policy_or_a_clear_error(text: str) -> None:
    check_read(text)


WORDS = (
    *(objective.value for objective in Objective),
    *(kind.value for kind in BalanceKind),
    *NAMED,
    *("max-moves", "-", "=", ";", ",", "+", "*", " ", "3", "0", "=2", "; ", "x"),
)


@given(st.lists(st.sampled_from(WORDS), max_size=9).map("".join))
def test_nearly_policies_too(text: str) -> None:
    check_read(text)


STATED = json.loads((TESTS / "data" / "policies.json").read_bytes())
"""Meanings of texts; and errors, each with the word at which it points."""


@pytest.mark.parametrize(("text", "meaning"), STATED["meaning"].items())
def test_meaning(text: str, meaning: str) -> None:
    assert str(parse_policy(text)) == meaning


def test_every_name_is_written_out_and_means_itself() -> None:
    for name, policy in NAMED.items():
        assert parse_policy(name) == policy == parse_policy(str(policy))


@pytest.mark.parametrize(("text", "error"), STATED["errors"].items())
def test_bad_policies_point_at_the_word(text: str, error: list[str]) -> None:
    reason, culprit = error
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    found = caught.value
    assert reason in found.reason
    assert found.start is not None
    assert found.text == text
    assert text[found.start : found.start + found.length].strip() == culprit
    lines = str(found).split("\n")
    assert lines[1] == f"  {text}"
    assert lines[2] == f"  {' ' * found.start}{'^' * found.length}"


def test_the_error_marks_the_second_of_two_equal_words() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy("rack, load, rack")
    assert caught.value.start == len("rack, load, ")


def test_far_too_long_is_refused_in_one_line() -> None:
    with pytest.raises(PolicyError, match="longer than") as caught:
        parse_policy("rack," * 10_000)
    assert len(str(caught.value)) < 100


def test_control_characters_do_not_reach_the_terminal() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy("dec-min;\x1b[31m")
    assert "\x1b" not in str(caught.value)


def test_types_refuse_nonsense() -> None:
    for wrong in (
        lambda: Balance(kind=BalanceKind.SPREAD),
        lambda: Balance(kind=BalanceKind.DEC_MIN, most=1),
        lambda: spread(-1),
        lambda: WeightedObjective(terms=()),
        lambda: WeightedObjective(terms=((0, Objective.RACK),)),
        lambda: WeightedObjective(terms=((WEIGHT_MAX + 1, Objective.RACK),)),
        lambda: WeightedObjective(terms=((1, Objective.RACK), (2, Objective.RACK))),
        lambda: WeightedObjective(terms=((2, Objective.LOAD),)),
        lambda: Policy(max_moves=-1),
        lambda: Policy(
            objectives=(
                WeightedObjective.of(Objective.RACK),
                WeightedObjective.of(Objective.RACK),
            )
        ),
    ):
        with pytest.raises(PolicyError):
            wrong()


def test_errors_survive_pickling() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy("dec-min; stickyness")
    assert isinstance(caught.value, OracleError)
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert str(copy) == str(caught.value)
    assert copy.start == caught.value.start

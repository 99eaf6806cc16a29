"""Results as notebooks show them, and the balances that they prove."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rebalance import PolicyError
from rebalance.building import instance_from_dict
from solver import NAMED, Engine, Limits, parse_policy, solve

GROUP: dict[str, Any] = {
    "group": "g",
    "topics": {"t": {"partitions": 3, "lag": [1200, 5, 6]}},
    "members": {"a": {"subscription": ["t"], "owned": {"t": [0, 1, 2]}}},
}
HEAD = "<tr><th>objective</th><th>value</th><th>bound</th></tr>"


def test_a_result_is_one_line() -> None:
    result = solve(instance_from_dict(GROUP), "dec-min; load, peak-lag")
    assert str(result) == (
        "<Result dec-min; load, peak-lag: optimal; load 3 (proved); "
        "peak-lag 1,211 (proved)>"
    )


def test_what_is_not_proved_is_in_the_line() -> None:
    two = {**GROUP["members"], "b": {"subscription": ["t"]}}
    result = solve(
        instance_from_dict({**GROUP, "members": two}),
        "none; peak-lag",
        limits=Limits(effort=0),
        engine=Engine.CP_SAT,
    )
    assert repr(result).endswith("(at least 606); effort limit of 0>")


def test_a_result_has_its_members() -> None:
    for policy in ("sticky", "none; load"):
        result = solve(instance_from_dict(GROUP), policy)
        assert result.members == {"a": {"t": [0, 1, 2]}}
    with pytest.raises(ValueError, match="does not state its instance"):
        _ = replace(result, instance=None).members


def test_bug_without_an_assignment_the_reason_is_stated() -> None:
    two = {**GROUP["members"], "b": {"subscription": ["t"]}}
    instance = instance_from_dict({**GROUP, "members": two})
    result = solve(instance, "dec-min; max-moves=0")
    with pytest.raises(
        ValueError, match=r"infeasible: .*fewest moves .* are 1"
    ) as raised:
        result.require_assignment()
    assert str(result.reason) in str(raised.value)


@pytest.mark.parametrize("text", [*NAMED, "per-topic; peak-lag; max-moves=3"])
def test_bug_a_policy_can_be_given_as_text(text: str) -> None:
    instance = instance_from_dict(GROUP)
    given, parsed = (solve(instance, policy) for policy in (text, parse_policy(text)))
    assert given.policy == parsed.policy
    assert given.to_document(instance) == parsed.to_document(instance)


def test_text_that_is_not_a_policy_is_an_error() -> None:
    with pytest.raises(PolicyError, match="did you mean 'sticky'"):
        solve(instance_from_dict(GROUP), "stickyy")


@pytest.mark.parametrize(
    ("policy", "row"),
    [
        ("sticky", "<td>stickiness</td><td>0</td><td>0</td>"),
        ("lag-aware", "<td>peak-lag</td><td>1,211</td><td>1,211</td>"),
        ("none; load", "<td>load</td><td>3</td><td>3</td>"),
    ],
)
def test_status_objectives_and_bounds_are_shown(policy: str, row: str) -> None:
    shown = solve(instance_from_dict(GROUP), parse_policy(policy))._repr_html_()
    assert f"{parse_policy(policy)}: optimal</caption>" in shown
    assert HEAD in shown
    assert f"<tr>{row}</tr>" in shown


def test_long_loads_are_cut_and_fractions_are_marked() -> None:
    members = {f"m{n:02}": {"subscription": ["t"]} for n in range(13)}
    group = {**GROUP, "topics": {"t": {"partitions": 13}}, "members": members}
    shown = solve(instance_from_dict(group), parse_policy("none; load"))._repr_html_()
    ones = ", ".join(["1"] * 12)
    assert f"<td>{ones}, …</td>" in shown


def test_a_reason_is_shown_and_escaped() -> None:
    group = {**GROUP, "members": {**GROUP["members"], "b": {"subscription": ["t"]}}}
    policy = parse_policy("dec-min; max-moves=0")
    result = solve(instance_from_dict(group), policy, limits=Limits())
    assert result.status.value == "infeasible"
    assert result.reason is not None
    assert "infeasible (" in result._repr_html_()


@pytest.mark.parametrize(
    ("policy", "capacity", "dec_min", "kip54"),
    [
        ("sticky", None, True, True),  # with a certificate
        ("sticky", 2, True, None),
        ("kip54; stickiness", None, None, True),
        ("none; stickiness", None, None, None),
        ("none; load", None, None, None),  # a certificate of another balance
    ],
)
def test_balances_are_stated_where_they_are_proved(
    policy: str, capacity: int | None, dec_min: bool | None, kip54: bool | None
) -> None:
    member = GROUP["members"]["a"] | ({"capacity": capacity} if capacity else {})
    instance = instance_from_dict({**GROUP, "members": {"a": member}})
    figures = solve(instance, parse_policy(policy)).to_document(instance).figures
    assert figures is not None
    assert figures.dec_min_balanced is dec_min
    assert figures.kip54_balanced is kip54

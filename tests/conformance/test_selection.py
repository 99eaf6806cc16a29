"""One check by its name is played as it was among all."""

from __future__ import annotations

import pytest

from conformance import Scenario, corpus
from conformance.checks import (
    Check,
    UnknownCheckError,
    corpus_checks,
    family_checks,
    find_check,
    name_of_check,
    selected_check,
)
from conformance.clients import Answer, Verdict
from conformance.runs import FAMILIES
from tests.conformance.subjects import Scripted, answered, failed, optimal
from tests.support.shapes import Document


def lost(document: Document) -> Answer:
    return answered({m: {} for m in document["members"]})


def again(check: Check) -> Check:
    return selected_check(Scripted(optimal), name_of_check(check))


def test_names_of_checks_are_unique() -> None:
    names = [name_of_check(check) for check in corpus_checks(Scripted(optimal))]
    assert len({*names}) == len(names)


@pytest.mark.parametrize(
    "scenario", list(corpus())[::12], ids=lambda scenario: scenario.name
)
def test_a_step_of_the_corpus_is_played_after_those_before_it(
    scenario: Scenario,
) -> None:
    checks = list(corpus_checks(Scripted(optimal), [scenario]))
    for check in checks:
        found = again(check)
        assert found == check


@pytest.mark.parametrize("name", ["fresh", "churn", "claims"])
def test_a_step_of_a_draw_is_played_after_those_before_it(name: str) -> None:
    checks = list(family_checks(Scripted(optimal), FAMILIES[name], seed=7, count=2))
    assert len(checks) == 2 * FAMILIES[name].steps
    for check in checks:
        assert again(check) == check


def test_a_draw_that_ends_early_ends_with_its_fault() -> None:
    subject = Scripted(lost)
    check = selected_check(subject, "churn/0/1/3")
    assert (check.part, check.name, check.result) == ("churn", "0/1/0", "invalid")
    assert len(subject.received) == 1


def test_nothing_else_is_played() -> None:
    subject = Scripted(lambda _: failed(Verdict.CRASH, "SIGSEGV"))
    selected_check(subject, "fresh/0/9/0")
    assert subject.received == [FAMILIES["fresh"].first(0, 9)]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("", "a name is"),
        ("corpus/no: step", "the corpus has no such step"),
        ("fresh/0/0", "a name is"),
        ("fresh/0/0/1", "fresh has 1 steps"),
        ("fresh/0/-1/0", "a name is"),
        ("no/0/0/0", "a name is"),
    ],
)
def test_a_name_that_no_check_has_is_an_error(name: str, complaint: str) -> None:
    with pytest.raises(UnknownCheckError, match=complaint):
        find_check(name)

"""Escaped names, and numbers in words."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.names import abridged, visible
from oracle.wording import counted, loads_text, percent, ranges, share


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("orders-1", "orders-1"),
        ("größe 漢字 مرحبا", "größe 漢字 مرحبا"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[31m\x7f\x9b", r"\x1b[31m\x7f\x9b"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("a\u200bb\ufeff\u00ad", r"a\u200bb\ufeff\xad"),
        ("\U000e0041\U000f0000", r"\U000e0041\U000f0000"),
        ("\u00a0\u3000", r"\xa0\u3000"),
        ("\u3164\u115f", r"\u3164\u115f"),
        ("", ""),
    ],
)
def test_invisible_characters_are_escaped(name: str, shown: str) -> None:
    assert visible(name) == shown


@pytest.mark.heavy
@given(st.text())
def test_control_characters_are_escaped(name: str) -> None:
    for shown in (visible(name), abridged(name, 12), visible(name, limit=7)):
        assert all(
            unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
            for character in shown
        )
        assert visible(shown) == shown


@pytest.mark.heavy
@given(st.text(), st.integers(1, 30))
def test_names_are_truncated_to_the_limit(name: str, limit: int) -> None:
    for shown in (visible(name, limit=limit), abridged(name, limit)):
        assert len(shown) <= limit
        if len(visible(name)) <= limit:
            assert shown == visible(name)
        else:
            assert "…" in shown


def test_a_long_name_keeps_both_ends() -> None:
    assert abridged("consumer-orders-1-5f0c", 11) == "consu…-5f0c"


@given(st.sets(st.integers(0, 60)))
def test_ranges_name_each_number_once(numbers: set[int]) -> None:
    text = ranges(list(numbers))
    named: list[int] = []
    for part in filter(None, text.split(", ")):
        first, _, last = part.partition("-")
        named += range(int(first), int(last or first) + 1)
    assert named == sorted(numbers)


def test_words_for_numbers() -> None:
    assert ranges([3, 1, 0, 2, 7]) == "0-3, 7"
    assert loads_text([5, 5, 3, 1]) == "5×2, 3×1, 1×1"
    assert loads_text([9, 8, 7, 6, 5]) == "9×1, 8×1, 7×1, 6×1, …"
    assert loads_text([]) == "none"
    assert counted(1, "move") == "1 move"
    assert counted(1200, "move") == "1,200 moves"
    assert counted(2, "rule broken", "rules broken") == "2 rules broken"
    assert share(28, 47) == "28 of 47 (60 %)"
    assert share(0, 0) == "none"


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 1000, "0 %"),
        (1, 1000, "<1 %"),
        (999, 1000, ">99 %"),
        (1000, 1000, "100 %"),
        (1, 3, "33 %"),
        (0, 0, "–"),
    ],
)
def test_only_all_is_100_percent(part: int, whole: int, words: str) -> None:
    assert percent(part, whole) == words

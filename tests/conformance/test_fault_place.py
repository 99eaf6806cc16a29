"""The place of a fault: as an adapter states it, or as the last words say."""

from __future__ import annotations

import orjson
import pytest

from conformance.clients.answer import read_answer
from conformance.clients.fault_place import place_of_death

PANIC = """\
panic: runtime error: index out of range [65534] with length 2

goroutine 1 [running]:
panic({0x5, 0x6})
\t/usr/lib/go/src/runtime/panic.go:884 +0x212
runtime.goPanicIndex(0xfffe, 0x2)
\t/usr/lib/go/src/runtime/panic.go:113 +0x7f
example.com/sticky.(*balancer).parse(0xc0001, {0x1, 0x2})
\t/home/somebody/pkg/mod/example.com/sticky@v1/sticky.go:351 +0x1e5
main.main()
\t/home/somebody/main.go:5 +0x1
"""


@pytest.mark.parametrize(
    ("said", "place"),
    [
        (PANIC, "example.com/sticky.(*balancer).parse (sticky.go:351)"),
        (
            "python: sticky.c:404: movePartition: Assertion `!str' failed.",
            "movePartition (sticky.c:404)",
        ),
        ("goroutine 1 [running]:\nmain.main()\n\t/home/x/main.go:5", None),
        ("killed", None),
        ("", None),
    ],
)
def test_last_words(said: str, place: str | None) -> None:
    assert place_of_death(said) == place


@pytest.mark.parametrize(
    ("stated", "place"),
    [
        ({"place": "assign (a.py:3)"}, "assign (a.py:3)"),
        ({"place": ""}, None),
        ({"place": 3}, None),
        ({}, None),
        ({"place": "x" * 999}, "x" * 200),
    ],
)
def test_an_error_can_state_its_place(
    stated: dict[str, object], place: str | None
) -> None:
    answer = read_answer(orjson.dumps({"error": "KeyError: 1", **stated}))
    assert (answer.reason, answer.place) == ("KeyError: 1", place)

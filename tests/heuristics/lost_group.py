"""A lost group: generations restart at 0 while the leader continues.

A leader that remembers earlier rebalances then treats all claims as old.
"""

from __future__ import annotations

from typing import Final

from tests.support.shapes import Document, member, rebalance

BEFORE: Final = rebalance({"t": 1}, {"a": member(["t"], {"t": [0]}, 9)})
"""Assignment that the leader saw when generations were higher."""

TAKEN_OVER: Final = rebalance(
    {"t": 4, "u": 1},
    {
        "a": member(["t"], None, 2),
        "b": member(["t"], {"t": [0, 1, 2, 3]}, 2),
        "c": member(["t"], {"t": [0]}, 1),
        "d": member(["u"], {"u": [0]}, 2),
    },
)
"""Of all claims that of c alone is an old one; so t:0 may go back to c."""


def left(*, is_alone: bool) -> Document:
    """Let c claim what it had just before it left the topic.

    Alone it is the only one to want its new topic, which has no partition.
    """
    members = {
        "a": member(["t"], {"t": [0, 1]}, 2),
        "b": member(["t"], {"t": [2]}, 2),
        "c": member(["u"], {"t": [3]}, 2),
        "e": member(["v"], {"v": [0, 1]}, 2),
        "f": member(["v"], None, 2),
    }
    if is_alone:
        return rebalance({"t": 4, "u": 0, "v": 2}, members)
    other = {"d": member(["u"], {"u": [0]}, 2)}
    return rebalance({"t": 4, "u": 1, "v": 2}, members | other)

"""Transfers between members, one by one, until the loads can be balanced."""

from __future__ import annotations


def fewest_transfers(score: int, score_least: int, members: int) -> int:
    """Count transfers until the balance score can have reached the least one.

    A transfer from a load to a smaller one changes the difference of the two by 2, and
    the differences of the giver and of the receiver to each other member by 1 each.
    """
    count = 0
    while score > score_least:
        others = max(members - 2, 0)
        score -= 2 + 2 * others
        count += 1
    return count

"""Why a program is not written; it does not reach a user as an error."""

from __future__ import annotations


class TooLargeError(Exception):
    """A program too large to write, or with numbers that doubles do not hold."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def too_many(variables: int) -> TooLargeError:
    """Refuse a program by its size."""
    return TooLargeError(f"a program of {variables} variables or more is too large")


def too_big(number: int) -> TooLargeError:
    """Refuse a program by its numbers."""
    return TooLargeError(
        f"the program needs numbers of {number.bit_length()} bits; doubles hold 53"
    )

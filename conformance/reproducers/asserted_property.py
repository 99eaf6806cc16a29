"""Which property a reproducer asserts, by the category of its finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.reproducers.case import ReproducerCase
from conformance.runs import Category

_ERRORS: Final = {Category.ERROR: "error", Category.CRASH: "crash"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertedProperty:
    """Flags for the templates.

    Attributes
    ----------
    hang : bool
        The assignor answers within a time limit.
    error : str or None
        The assignor raises nothing; the category if it does.
    valid, unrevoked : bool
        In every round, the answer is valid, or assigns nothing that another member
        holds.
    restless : bool
        Members have nothing to revoke after a number of rounds.
    kip54, optimum, moves : bool
        Of the stable state: KIP-54 balance; the loads of the optimum; and no more moves
        than the optimum.
    """

    hang: bool
    error: str | None
    valid: bool
    unrevoked: bool
    restless: bool
    kip54: bool
    optimum: bool
    moves: bool
    cooperative: bool

    @property
    def judged(self) -> bool:
        """Whether every answer is judged."""
        return self.valid or self.unrevoked

    @property
    def claims(self) -> bool:
        """Whether the newest claimants are needed."""
        return self.unrevoked

    @property
    def uses_held(self) -> bool:
        """Whether the answer matters, beyond that there is one."""
        return self.judged or self.kip54 or self.optimum or self.cooperative


def asserted_property(case: ReproducerCase) -> AssertedProperty:
    """Return the property that the outcome of a case violates."""
    category = case.category
    return AssertedProperty(
        hang=category is Category.HANG,
        error=_ERRORS.get(category),
        valid=category is Category.INVALID,
        unrevoked=category is Category.UNREVOKED,
        restless=category is Category.RESTLESS,
        kip54=category is Category.KIP54_UNBALANCED,
        optimum=category in {Category.UNBALANCED, Category.NEEDLESS_MOVES},
        moves=category is Category.NEEDLESS_MOVES,
        cooperative=case.cooperative,
    )

"""What an engine says of a policy: an assignment, how far it is proved, and by what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rebalance import Assignment, AssignmentDocument, Instance, document_of, figures_of
from rebalance.claims import NOBODY
from rebalance.documents import (
    BoundTerm,
    CertificateProof,
    ObjectiveDocument,
    SearchProof,
    TermsProof,
)
from solver.answer import Status
from solver.certificate import Certificate
from solver.policy import Policy, Sum
from solver.policy.policy import Kind

Value = int | tuple[int, ...]
Proof = CertificateProof | TermsProof | SearchProof


class MiscountError(AssertionError):
    """An engine's own figures are not those of its assignment: a fault of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Achieved:
    """One level of a policy: what was reached and what cannot be beaten.

    Attributes
    ----------
    of : Sum
    value : int, or tuple of int for ``load``
        Of the assignment, counted anew in integers (`solver.values`).
    bound : same
        No assignment that meets the balance, the budget, and the levels before as well
        as this one does, has less. Never above ``value``.
    scale : int
        ``value`` and ``bound`` are in units of 1 ÷ scale.
    proof : Proof or None
        What ``bound`` rests on; None: on nothing but that no value is below it.
    """

    of: Sum
    value: Value
    bound: Value
    scale: int = 1
    proof: Proof | None = None

    @property
    def is_proved(self) -> bool:
        """Whether nothing better exists."""
        return self.value == self.bound

    def to_document(self) -> ObjectiveDocument:
        """Write it as a part of assignment/1."""
        return ObjectiveDocument.model_construct(
            of=str(self.of),
            value=_plain(self.value),
            bound=_plain(self.bound),
            scale=None if self.scale == 1 else self.scale,
            proof=self.proof,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer to a policy.

    Attributes
    ----------
    policy : Policy
    status : Status
        OPTIMAL only if every level is proved and the balance is met.
    assignment : Assignment or None
        None if INFEASIBLE or UNKNOWN.
    objectives : tuple of Achieved
        As many as the policy has levels, or none without assignment. Levels after the
        first that is not proved have the value of this assignment and a bound that
        holds for it; usually the trivial one.
    certificate : Certificate or None
        Of the balance, where the exact core gave one.
    reason : str or None
        Why there is no assignment, or why it is not proved.
    """

    policy: Policy
    status: Status
    assignment: Assignment | None = None
    objectives: tuple[Achieved, ...] = ()
    certificate: Certificate | None = None
    reason: str | None = None

    def to_document(
        self, instance: Instance, *, assignor: str = "oracle"
    ) -> AssignmentDocument:
        """Write the answer as assignment/1; without assignment nobody gets anything."""
        if self.assignment is None:
            document = document_of(instance, _nothing(instance), assignor=assignor)
        else:
            document = document_of(
                instance,
                self.assignment,
                assignor=assignor,
                figures=figures_of(instance, self.assignment).model_copy(
                    update=self._balances_met(instance)
                ),
                certificate=(
                    None
                    if self.certificate is None
                    else self.certificate.to_document(instance)
                ),
            )
        more = {
            "status": self.status.value,
            "policy": str(self.policy),
            "objectives": [one.to_document() for one in self.objectives] or None,
            "reason": self.reason,
        }
        return document.model_copy(update=more)

    def _balances_met(self, instance: Instance) -> dict[str, bool]:
        """Tell which balances are proved, by the certificate or by the constraint."""
        kind = self.policy.balance.kind
        met = {}
        if kind is Kind.DEC_MIN and self.certificate is not None:
            met["dec_min_balanced"] = True
        # By counts: dec-min implies it, but not where loads are weighed.
        if kind is Kind.KIP54 or (met and instance.capacity is None):
            met["kip54_balanced"] = True
        return met


def zero_term() -> TermsProof:
    """Return the argument that nothing is below 0."""
    return TermsProof(terms=[BoundTerm(kind="zero", bound=0)])


def _nothing(instance: Instance) -> Assignment:
    nobody = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    return Assignment(assignee=nobody)


def _plain(value: Value) -> int | list[int]:
    return list(value) if isinstance(value, tuple) else value

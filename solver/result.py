"""The result of a solve: assignment, status, objectives with their proofs, certificate.

Every engine returns this one type.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import numpy as np

from rebalance import (
    NOBODY,
    Assignment,
    AssignmentDocument,
    BoundTerm,
    CertificateDocument,
    CertificateProof,
    Instance,
    Int32,
    Int64,
    ObjectiveDocument,
    PriceWeights,
    SearchProof,
    TermsProof,
    about_assignment,
    figures_of,
    html_table,
    members_of,
    with_members,
)
from solver.policy import BalanceKind, Policy, WeightedObjective

SHOWN_LOADS: Final = 12
Value = int | tuple[int, ...]
Proof = CertificateProof | TermsProof | SearchProof


class MiscountError(AssertionError):
    """An engine's figures differ from those of its assignment: a defect of ours."""


class Status(Enum):
    """Outcome of a solve. Only OPTIMAL is a claim about every other assignment."""

    OPTIMAL = "optimal"  # proved: every objective equals its bound
    FEASIBLE = "feasible"  # valid assignment, stopped before a proof
    INFEASIBLE = "infeasible"  # proved: no assignment satisfies the constraints
    UNKNOWN = "unknown"  # stopped without an assignment or a proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Proof of balance and stickiness: two integers per member.

    `solver.exact.prove` checks it; docs/method.md has the theorem.

    Attributes
    ----------
    level : int32 (M,)
        Every load is level or level + 1, and every partition is assigned to a
        subscriber whose level is lowest.
    price : int32 (M,)
        Kept partitions that a partition beyond the level costs its member.
        int64 where it counts ``weights``.
    threshold : int64 (M, 2), or None where all capacities are equal
        One key (n, w) per member (`solver.exact.weighted_levels`): its level counts its
        keys below the threshold, every load counts those below or those not above, and
        every partition is assigned to a subscriber whose threshold is lowest.
    weights : pair of int, or None
        Units of price per move and per rack mismatch; None: moves alone count.
    """

    level: Int32
    price: Int32 | Int64
    threshold: Int64 | None = None
    weights: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Freeze the columns."""
        self.level.setflags(write=False)
        self.price.setflags(write=False)
        if self.threshold is not None:
            self.threshold.setflags(write=False)

    def to_document(self, instance: Instance) -> CertificateDocument:
        """Write it by member id."""

        def by_member_id(column: Int32 | Int64) -> dict[str, Any]:
            return dict(zip(instance.members, column.tolist(), strict=True))

        threshold = None if self.threshold is None else by_member_id(self.threshold)
        weights = None
        if self.weights is not None:
            move, mismatch = self.weights
            weights = PriceWeights.model_construct(stickiness=move, rack=mismatch)
        return CertificateDocument.model_construct(
            level=by_member_id(self.level),
            price=by_member_id(self.price),
            threshold=threshold,
            weights=weights,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBound:
    """A proved lower bound on an objective, which must be an integer.

    It holds for all assignments that meet the balance, whatever the objectives before.

    Attributes
    ----------
    value : int
        In the units of the objective (`solver.objectives.scale_of`).
    proof : Proof
    certificate : Certificate or None
        Certificate of dec-min balance if the proof rests on it.
    """

    value: int
    proof: Proof
    certificate: Certificate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveResult:
    """Value and bound of one objective of a policy.

    Attributes
    ----------
    of : WeightedObjective
    value : int, or tuple of int for ``load``
        Of the assignment, counted in integers (`solver.objectives`).
    bound : same
        No assignment that meets the balance, the move budget, and the objectives before
        as well as this one does, has a lower value. Never above ``value``.
    scale : int
        ``value`` and ``bound`` are in units of 1 / scale.
    proof : Proof or None
        Basis of ``bound``; None: only that no value is below it.
    """

    of: WeightedObjective
    value: Value
    bound: Value
    scale: int = 1
    proof: Proof | None = None

    @property
    def is_proved(self) -> bool:
        """Whether no better value exists."""
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """The best assignment found for a policy, and its proofs.

    Attributes
    ----------
    policy : Policy
    status : Status
        OPTIMAL only if every objective is proved and the balance is met.
    assignment : Assignment or None
        None if INFEASIBLE or UNKNOWN.
    objectives : tuple of ObjectiveResult
        One per objective of the policy, or none without an assignment. Objectives after
        the first that is not proved carry the value of this assignment and a bound that
        holds for it, usually the trivial one.
    certificate : Certificate or None
        Of the balance, where the exact core computed one.
    reason : str or None
        Why there is no assignment, or why it is not proved.
    instance : Instance or None
        The solved instance; `solver.solve` sets it.
    """

    policy: Policy
    status: Status
    assignment: Assignment | None = None
    objectives: tuple[ObjectiveResult, ...] = ()
    certificate: Certificate | None = None
    reason: str | None = None
    instance: Instance | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Return policy, status, and each objective with its bound, in one line."""
        parts = [f"{self.policy}: {self.status.value}"]
        for objective in self.objectives:
            value, bound = (
                _shown(n, objective.scale) for n in (objective.value, objective.bound)
            )
            proved = "proved" if objective.is_proved else f"at least {bound}"
            parts.append(f"{objective.of} {value} ({proved})")
        if self.reason is not None:
            parts.append(self.reason)
        return f"<Result {'; '.join(parts)}>"

    @property
    def members(self) -> dict[str, dict[str, list[int]]]:
        """The assignment as member → topic → numbers, with every member present.

        Raises
        ------
        ValueError
            If there is no assignment, or the result is not one of `solver.solve`.
        """
        assignment = self.require_assignment()
        if self.instance is None:
            raise ValueError("the result does not state its instance")
        return members_of(self.instance, assignment)

    def _repr_html_(self) -> str:
        """Show status, objectives, and bounds in a notebook."""
        caption = f"{self.policy}: {self.status.value}"
        if self.reason is not None:
            caption += f" ({self.reason})"
        rows = [
            (
                str(objective.of),
                _shown(objective.value, objective.scale),
                _shown(objective.bound, objective.scale),
            )
            for objective in self.objectives
        ]
        return html_table(
            caption, ("objective", "value", "bound"), rows, count=len(rows)
        )

    def require_assignment(self) -> Assignment:
        """Return the assignment; for policies that every instance can satisfy.

        Raises
        ------
        ValueError
            If there is none: INFEASIBLE or UNKNOWN.
        """
        if self.assignment is None:
            reason = "" if self.reason is None else f": {self.reason}"
            raise ValueError(f"no assignment: {self.status.value}{reason}")
        return self.assignment

    def require_certificate(self) -> Certificate:
        """Return the certificate; the exact core always computes one.

        Raises
        ------
        ValueError
            If there is none.
        """
        if self.certificate is None:
            raise ValueError(f"no certificate: {self.policy}")
        return self.certificate

    def to_document(
        self, instance: Instance, *, assignor: str = "oracle"
    ) -> AssignmentDocument:
        """Write the result as assignment/1; without an assignment, all are empty."""
        about = self.about(instance, assignor=assignor)
        return with_members(about, instance, self.written_assignment(instance))

    def about(
        self, instance: Instance, *, assignor: str = "oracle"
    ) -> AssignmentDocument:
        """Return all fields of the document but its members."""
        more: dict[str, Any] = {
            "status": self.status.value,
            "policy": str(self.policy),
            "reason": self.reason,
        }
        if self.assignment is not None:
            more["figures"] = figures_of(instance, self.assignment).model_copy(
                update=self._proved_balances(instance)
            )
            more["objectives"] = [
                objective.to_document() for objective in self.objectives
            ]
        if self.certificate is not None:
            more["certificate"] = self.certificate.to_document(instance)
        about = about_assignment(instance, assignor=assignor)
        return about.model_copy(update=more)

    def written_assignment(self, instance: Instance) -> Assignment:
        """Return the assignment as documents have it; without one, all are empty."""
        nobody = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
        return self.assignment or Assignment(assignee=nobody)

    def _proved_balances(self, instance: Instance) -> dict[str, bool]:
        """Return the balances that the certificate or the constraint proves."""
        kind = self.policy.balance.kind
        proved = {}
        if kind is BalanceKind.DEC_MIN and self.certificate is not None:
            proved["dec_min_balanced"] = True
        # Dec-min implies KIP-54's balance by counts, but not with capacities.
        if kind is BalanceKind.KIP54 or (proved and instance.capacity is None):
            proved["kip54_balanced"] = True
        return proved


def certificate_of(bounds: Iterable[KnownBound]) -> Certificate | None:
    """Return the certificate on which known bounds rest, if any does."""
    return next((bound.certificate for bound in bounds if bound.certificate), None)


def zero_term() -> TermsProof:
    """Return the proof that no value is below 0."""
    return TermsProof(terms=[BoundTerm(kind="zero", bound=0)])


def _shown(value: Value, scale: int) -> str:
    if isinstance(value, tuple):
        rest = ", …" if len(value) > SHOWN_LOADS else ""
        text = ", ".join(f"{load:,}" for load in value[:SHOWN_LOADS]) + rest
    else:
        text = f"{value:,}"
    return text if scale == 1 else f"{text} ÷ {scale:,}"


def _plain(value: Value) -> int | list[int]:
    return list(value) if isinstance(value, tuple) else value

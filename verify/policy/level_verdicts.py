"""The verdict on each level of a policy: its value, its bound, and their support.

Of each level an answer states a value, which is counted anew, and a bound, with a
*proof*: a certificate or terms, which are checked here, or the word of an engine that
has searched. Only the first two prove anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from verify.case import Case
from verify.certificate import Certificate
from verify.policy.feasible_region import Region, region_of
from verify.policy.notation import PEAK_LAG, Policy
from verify.policy.objectives import Tally, Value, at_most, scale_of, value_of
from verify.policy.price_bounds import KINDS, priced_term_fails
from verify.policy.terms import term_fails, together
from verify.policy.work import Work

Reason = dict[str, Any]
Stated = Mapping[str, Any]  # one of an answer's objectives


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A complete valid assignment and the facts that its proofs may rest on."""

    case: Case
    policy: Policy
    tally: Tally
    certificate: Certificate | None  # if it proves the balance
    certified: Mapping[str, Value]  # level -> bound that the certificate proves
    allowed: bool  # whether balance and budget are met
    work: Work

    @cached_property
    def region(self) -> Region:
        """The balance's feasible region, as far as it is known; only terms need it."""
        return region_of(self.case, self.policy.balance, self.certificate)


def level_verdicts(answer: Answer, stated: Sequence[Stated]) -> list[dict[str, Any]]:
    """Judge every level of the policy, in its order."""
    of_level = {objective["of"]: objective for objective in stated}
    return [_verdict(answer, of, of_level.get(of)) for of in answer.policy.levels]


def proves_peak_lag(answer: Answer, verdicts: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a level proves the peak lag least of all valid assignments."""
    case, levels = answer.case, answer.policy.levels
    proved = (levels[verdict["of"]] for verdict in verdicts if verdict["proved"])
    if PEAK_LAG not in proved or any(case.capacity[m] != 1 for m in case.in_play):
        return False
    return answer.region.is_open


def _verdict(answer: Answer, of: str, stated: Stated | None) -> dict[str, Any]:
    case, level = answer.case, answer.policy.levels[of]
    value, scale = value_of(case, answer.tally, level), scale_of(case, level)
    rests_on, bound, fails, engine = _support(answer, of, stated)
    found: dict[str, Any] = {"of": of, "value": value, "scale": scale, "bound": bound}
    claimed = {} if stated is None else {"scale": 1, **stated}
    differ = {n: claimed[n] for n in found if n in claimed and claimed[n] != found[n]}
    checked = rests_on in {"certificate", "terms"}
    if fails is None and stated is not None and not (checked and bound is None):
        limit = bound if checked else value
        fails = None if at_most(stated["bound"], limit) else {"fails": "bound"}
    found |= {
        "scale": None if scale == 1 else scale,
        "claimed": differ or None,
        "rests_on": rests_on,
        "engine": engine,
        "proved": answer.allowed and checked and bound == value,
        "evidence": fails,
    }
    return {name: entry for name, entry in found.items() if entry is not None}


def _support(
    answer: Answer, of: str, stated: Stated | None
) -> tuple[str, Value | None, Reason | None, str | None]:
    """Return a bound's evidence, the value it proves, and its fault; any engine."""
    if stated is None:
        return "nothing", None, {"fails": "absent"}, None
    proof = stated.get("proof", {"by": "nothing"})
    if proof["by"] == "certificate":
        bound = answer.certified.get(of)
        fails = {"fails": "certificate"} if bound is None else None
        return "certificate", bound, fails, None
    accepted, refused = _accepted(answer, of, proof.get("terms", ()))
    if proof["by"] == "terms":
        return "terms", accepted, refused, None
    return proof["by"], stated["bound"], refused, proof.get("engine")


def _accepted(
    answer: Answer, of: str, terms: Sequence[Mapping[str, Any]]
) -> tuple[Value | None, Reason | None]:
    """Return the bound that valid terms prove, and the first invalid term."""
    case, policy, work = answer.case, answer.policy, answer.work
    level, held, refused = policy.levels[of], [], None
    for place, term in enumerate(terms):
        if term["kind"] in KINDS:
            odd = priced_term_fails(
                case, policy, answer.region, answer.tally, of, term, work
            )
        else:
            odd = term_fails(case, answer.region, level, term, work)
        if odd is None:
            held.append(term)
        elif refused is None:
            refused = {"term": place, "kind": term["kind"]} | odd
    return together(case, level, held), refused

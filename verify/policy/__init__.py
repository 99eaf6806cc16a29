"""The other part of the judge: statements about a policy, and enumeration.

The core (the modules of ``verify``) imports it in `verify.handover` alone.
"""

from verify.policy.answers import judge_stated
from verify.policy.brute_force import best, enumerate_claims
from verify.policy.enumeration import TooLarge, every_assignment
from verify.policy.notation import STATED_FIELDS

__all__ = [
    "STATED_FIELDS",
    "TooLarge",
    "best",
    "enumerate_claims",
    "every_assignment",
    "judge_stated",
]

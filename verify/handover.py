"""The one place where the core hands over to ``verify.policy``.

`STATED_FIELDS` are the fields of an assignment that state a policy; `judge_stated`
judges them; `kept_bound_with_racks` adds up a certificate that prices rack mismatches
as well. `enumerate_claims` settles claims on tiny instances, with `best`.
"""

from verify.policy import (
    STATED_FIELDS,
    TooLarge,
    best,
    enumerate_claims,
    every_assignment,
    judge_stated,
    kept_bound_with_racks,
)

__all__ = [
    "STATED_FIELDS",
    "TooLarge",
    "best",
    "enumerate_claims",
    "every_assignment",
    "judge_stated",
    "kept_bound_with_racks",
]

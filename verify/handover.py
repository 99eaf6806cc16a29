"""The one place where the core hands over to ``verify.policy``.

``policy.STATED_FIELDS`` are the fields of an assignment that state a policy, and
``policy.judge_stated`` judges them; the rest is enumeration.
"""

from verify import policy

__all__ = ["policy"]

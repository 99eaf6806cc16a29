"""The one place where the core hands over to ``verify.policy``.

It judges what an assignment states of its policy, and enumerates.
"""

from verify import policy

__all__ = ["policy"]

"""The one place where the core hands over to ``verify.policy``.

It judges the statements of an assignment about its policy, and enumerates.
"""

from verify import policy

__all__ = ["policy"]

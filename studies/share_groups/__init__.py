"""Share groups (KIP-932): their instances, a judge of their own, and drawn groups.

A partition of a share group can be assigned to several members, so that the rules of
consumer groups do not apply, and ``verify`` is not asked.
"""

from studies.share_groups.share_group import ShareGroup, share_group_of
from studies.share_groups.share_judge import (
    share_figures,
    share_violations,
)
from studies.share_groups.share_play import (
    STEPS,
    ShareCheck,
    judged_share_group,
    play_share_group,
)

__all__ = [
    "STEPS",
    "ShareCheck",
    "ShareGroup",
    "judged_share_group",
    "play_share_group",
    "share_figures",
    "share_group_of",
    "share_violations",
]

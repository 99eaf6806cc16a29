"""Random rebalance/1 documents that cover the shapes which assignors get wrong.

``draw_rebalance(rng)`` makes every choice through ``rng``: with
``random.Random(seed)``, it is fast and reproducible; with a generator of hypothesis,
its draws shrink (`conformance.testing`).
"""

from conformance.random_rebalances.draw_churn import draw_churn
from conformance.random_rebalances.draw_rebalance import draw_rebalance
from conformance.random_rebalances.group_changes import change_group
from conformance.random_rebalances.random_claims import (
    claim_again,
    claim_as_first,
    claim_faithfully,
    date_claims,
    draw_claims,
)
from conformance.random_rebalances.random_shares import (
    ShareLimits,
    change_subscriptions,
    claim_over_generations,
    claim_shares,
    disturb_claims,
    draw_different,
    draw_incumbents,
    place_in_racks,
)
from conformance.random_rebalances.subscription_frames import (
    HOSTILE_NAMES,
    UNEVEN_FRAMES,
    DrawLimits,
    document_of_frame,
    draw_frame,
    some_of,
)

__all__ = [
    "HOSTILE_NAMES",
    "UNEVEN_FRAMES",
    "DrawLimits",
    "ShareLimits",
    "change_group",
    "change_subscriptions",
    "claim_again",
    "claim_as_first",
    "claim_faithfully",
    "claim_over_generations",
    "claim_shares",
    "date_claims",
    "disturb_claims",
    "document_of_frame",
    "draw_churn",
    "draw_claims",
    "draw_different",
    "draw_frame",
    "draw_incumbents",
    "draw_rebalance",
    "place_in_racks",
    "some_of",
]

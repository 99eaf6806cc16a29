"""Random rebalance/1 documents that cover the shapes which assignors get wrong.

``draw_rebalance(rng)`` makes every choice through ``rng``: with
``random.Random(seed)``, it is fast and reproducible; with a generator of hypothesis,
what it draws shrinks (`conformance.testing`).
"""

from conformance.random_rebalances.draw_churn import draw_churn
from conformance.random_rebalances.draw_rebalance import draw_rebalance
from conformance.random_rebalances.random_claims import draw_claims
from conformance.random_rebalances.subscription_frames import (
    HOSTILE_NAMES,
    Document,
    DrawLimits,
)

__all__ = [
    "HOSTILE_NAMES",
    "Document",
    "DrawLimits",
    "draw_churn",
    "draw_claims",
    "draw_rebalance",
]

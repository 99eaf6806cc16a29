"""Campaigns of differential tests: draw, and shrink each finding when it is found."""

from conformance.campaign.claim_use import uses_claims
from conformance.campaign.run_campaign import (
    Campaign,
    CampaignPlan,
    DrawnFinding,
    Shrinking,
)
from conformance.campaign.same_finding import Key, drawn_key, shrunk_key

__all__ = [
    "Campaign",
    "CampaignPlan",
    "DrawnFinding",
    "Key",
    "Shrinking",
    "drawn_key",
    "shrunk_key",
    "uses_claims",
]

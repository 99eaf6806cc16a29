"""Campaigns of differential tests: draw, and shrink each finding when it is found."""

from conformance.campaign.run_campaign import Campaign, CampaignPlan, Found, Shrinking

__all__ = ["Campaign", "CampaignPlan", "Found", "Shrinking"]

"""A running cluster's log of groups, followed by structured streaming."""

from pipeline.following.follower import Follower, Update, following

__all__ = ["Follower", "Update", "following"]

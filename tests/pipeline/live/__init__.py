"""A running cluster, as the Admin API reports it."""

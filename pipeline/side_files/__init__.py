"""Files beside the records: partition counts, log ends, lag, and subscriptions."""

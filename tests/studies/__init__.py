"""Studies of real clients and brokers: confirmation, survey, recording."""

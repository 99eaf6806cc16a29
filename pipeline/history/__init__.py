"""The history of a group of either protocol, reconstructed from its records."""

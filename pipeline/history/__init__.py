"""The history of a classic group, reconstructed from its records."""

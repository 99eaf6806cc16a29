"""Tests of the machine-checked judge in ``proofs/``."""

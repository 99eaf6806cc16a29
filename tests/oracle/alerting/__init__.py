"""Tests of `oracle.alerting`."""

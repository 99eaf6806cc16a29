"""Rows of the audit's tables, computed from cases: posed, answered, and judged."""

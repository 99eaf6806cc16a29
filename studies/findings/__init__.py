"""Pages of findings: definitions, records, and trials, rendered as Markdown and SVG."""

from studies.findings.every import files

__all__ = ["files"]

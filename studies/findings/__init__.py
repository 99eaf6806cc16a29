"""Pages of findings: definitions, records, and trials, rendered as Markdown and SVG."""

from studies.findings.pages import files

__all__ = ["files"]

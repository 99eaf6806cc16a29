"""The command line of the judge: files, pairs of documents, exit codes."""

from verify.command.line import main

__all__ = ["main"]

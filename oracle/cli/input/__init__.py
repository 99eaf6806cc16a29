"""Input of subcommands: documents, groups of a source, programs to test."""

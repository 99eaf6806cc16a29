"""Output of subcommands: tables and lines for people, documents for programs."""

"""Options of subcommands: one value per subcommand, and shared options."""

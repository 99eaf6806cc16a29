"""Options of subcommands: one value per subcommand, and what several share."""

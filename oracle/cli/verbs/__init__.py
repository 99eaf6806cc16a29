"""The subcommands as they are declared: their help, and what runs them."""

"""The run of each subcommand with its options, from input to exit code."""

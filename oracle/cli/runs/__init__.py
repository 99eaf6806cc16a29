"""What each subcommand does with its options, from input to exit code."""

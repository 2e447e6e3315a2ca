"""What a command does, without the terminal: one module per job."""

"""What touches the network: sends a request and records every read of the answer with its time."""

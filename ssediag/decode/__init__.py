"""Bytes with times in, events with times out. Broken framing is reported, never raised."""

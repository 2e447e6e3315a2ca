"""Servers that misbehave on purpose, each its own process on 127.0.0.1. Imports nothing of ssediag."""

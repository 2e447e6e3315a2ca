"""Servers that misbehave on purpose, each its own process on 127.0.0.1.

Imports nothing of ssediag outside this folder, and only the standard library.
"""

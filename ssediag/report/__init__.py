"""A finished diagnosis in, text out."""

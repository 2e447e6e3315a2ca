"""The known mechanisms and products, as data."""

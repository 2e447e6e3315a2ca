"""The nouns: frozen values that every other folder speaks in.

Times are integer nanoseconds and end in ``_ns``; zero is the moment the last request byte was
written. Sizes end in ``_bytes``, counts in ``_count``. What is absent is ``None``, never 0.
"""

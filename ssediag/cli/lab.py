"""``ssediag lab``: run lab parts by hand."""

"""ssediag finds the hop that turns per-token output into bursts."""

__version__ = "0.1.0"

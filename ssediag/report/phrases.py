"""What the facts behind a verdict say in words: ``{}`` is the value with its unit."""

from types import MappingProxyType

PHRASES = MappingProxyType(
    {
        "first_event_share": "the first event comes at {} of the stream's time",
        "largest_burst_share": "{} of the events come in one burst",
        "gap_p50_ns": "the median gap between events is {}",
        "per_burst_events": "{} in a burst",
        "multi_share": "{} of the events come in company",
        "split_share": "{} of the bursts end in the middle of an event",
        "regular_bytes_share": "{} of the bursts have the same size",
        "burst_bytes": "{} in a burst",
        "burst_count": "{} bursts in all",
        "burst_period_ns": "a burst every {}",
        "period_variation_share": "the period varies by {}",
        "bytes_variation_share": "the size of a burst varies by {}",
        "count_variation_share": "the number of events in a burst varies by {}",
        "first_burst_events": "{} in the first burst",
        "first_burst_bytes": "{} in the first burst",
        "later_multi_share": "{} of the events after it come in company",
        "identity_rhythm": "asked for no coding it still shows {}",
        "coding": "the answer is coded: {}",
        "tokens_per_event_ratio": "{} tokens in an event",
        "longest_gap_ns": "a silence of {}",
        "catch_up_events": "{} at the end of the silence",
        "ending": "it ended on the wire as {}",
        "looks_like": "what came instead looks like {}",
        "status": "status {}",
        "undated_share": "{} of the gaps could not be dated",
    }
)

# Facts that are words read better whole.
VALUE_PHRASES = MappingProxyType(
    {
        ("identity_rhythm", "none"): "asked for no coding it streams",
        ("coded_always", "yes"): "it compresses even when asked not to",
        ("ending", "no-last-chunk"): "the connection closed before the last chunk",
        ("ending", "short"): "fewer bytes came than Content-Length says",
        ("ending", "reset"): "the connection was reset",
        ("ending", "eof"): "the connection closed, in a framing that cannot prove its end",
        ("ending", "timed-out"): "it was still open when our limit ran out",
        ("terminator", "no"): "the dialect's own end never came",
        ("terminator", "yes"): "the dialect's own end came",
        ("error_event", "yes"): "an error event came inside the stream",
        ("coding_unfinished", "yes"): "the content coding never ended",
        ("idle_end", "yes"): "then silence until our limit",
        ("first_burst_splits", "yes"): "the first burst ends in the middle of an event",
        ("known_size", "yes"): "bursts end with the event that fills a block of a known size",
        ("known_period", "yes"): "the period is that of a known timer",
        ("source_groups", "yes"): "whole events come in groups of one count",
        ("inner_streams", "yes"): "a hop further in streams",
        ("looks_like", "empty"): "the body is empty",
    }
)

# What a reader need not be told: that there was enough to judge, ratios without a picture, and
# that something did not happen (a value with a phrase of its own is said).
SILENT = frozenset(
    {
        "answered",
        "beat_ratio",
        "coded_always",
        "coding_unfinished",
        "error_event",
        "event_count",
        "first_burst_splits",
        "hold_ratio",
        "idle_end",
        "inner_burst_count",
        "inner_streams",
        "known_period",
        "known_size",
        "later_count",
        "longest_gap_ratio",
        "pace_ns",
        "source_groups",
        "terminator",
    }
)

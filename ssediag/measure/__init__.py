"""The rhythm of one stream in numbers: bursts, silences, periods, quanta."""

"""From rhythms to a named hop and a named mechanism: pure functions of decoded streams."""

"""Pure values and judgement: no file, clock, environment or network."""

"""Choice of the next questions: the comparisons whose answers are expected to tell most, of items or of judges."""

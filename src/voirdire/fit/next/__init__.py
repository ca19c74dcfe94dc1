"""What to ask next: the comparisons whose answers are expected to tell most, of items or of judges."""

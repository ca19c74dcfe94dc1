"""Choice of the next questions: comparisons and rankings with the largest expected information on items or judges."""

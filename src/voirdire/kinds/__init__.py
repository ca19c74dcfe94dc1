"""The kinds of data that can be fitted: votes, labels, scores, and votes and scores together."""

"""Tables of votes, scores and labels: read, validate, count."""

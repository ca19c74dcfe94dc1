"""Votes and scores of the same items together: one density of both tables, results and checks."""

"""Votes and scores of the same items: two families of answers with one set of terms."""

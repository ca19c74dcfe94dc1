"""Judging protocols, one file each, and their shared parts."""

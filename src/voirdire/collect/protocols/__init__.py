"""The judging protocols, one file each, and the small pieces that they share."""

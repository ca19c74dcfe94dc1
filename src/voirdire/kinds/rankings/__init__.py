"""Rankings: judges put items in order."""

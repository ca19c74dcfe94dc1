"""Labels: judges put items into classes. The density of a table of labels, its results and its checks."""

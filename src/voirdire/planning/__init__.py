"""Planning by simulation: how many answers a precision needs, and how many bad judges a panel bears."""

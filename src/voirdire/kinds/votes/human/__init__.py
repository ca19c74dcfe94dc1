"""Human answers to some comparisons: reading them, learning from them whom to trust, and choosing how."""

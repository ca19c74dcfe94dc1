"""Whether a fitted panel deserves trust: what its votes do that the model cannot explain, and what to do about it."""

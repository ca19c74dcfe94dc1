"""Chains on a graphics processor, or another device of JAX, from the same fields and coordinates as elsewhere."""

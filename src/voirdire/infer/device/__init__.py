"""Chains on a graphics processor or another device of JAX, with the same models and coordinates as on the processor."""

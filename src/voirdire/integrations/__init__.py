"""Integrations of voirdire into other tools, one module per tool; :mod:`.panel` is their shared part."""

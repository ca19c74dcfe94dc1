"""voirdire inside other tools: one module each, which imports its tool; :mod:`.panel` is what they share."""

"""Agreement coefficients of judges' answers, matched unit by unit."""

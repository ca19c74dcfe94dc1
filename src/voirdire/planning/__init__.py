"""Planning by simulation: number of answers for a precision, and number of bad judges that a panel tolerates."""

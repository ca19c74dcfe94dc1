"""Replacement of people by judges: agreement with people, compared with people's agreement with each other."""

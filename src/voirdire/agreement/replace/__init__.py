"""May a judge replace people: agreement with people beside people's agreement with each other."""

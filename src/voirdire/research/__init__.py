"""Not needed to fit: simulation studies, and published numbers checked."""

"""Not needed to fit: simulation studies, planning by them, and published numbers checked."""

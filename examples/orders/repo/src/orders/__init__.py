"""Orders of a small shop: what was sold, and which orders stand."""

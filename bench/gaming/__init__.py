"""Small projects, pushes that game their checks, and honest pushes of the same kind."""

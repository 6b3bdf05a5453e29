"""The doors to the outside: one outside thing, one file."""

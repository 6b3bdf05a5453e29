"""Server-side git policy that keeps a patch from owning its own exam."""

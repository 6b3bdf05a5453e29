"""The daemon: wakes, looks at everything from scratch, writes down, tells."""

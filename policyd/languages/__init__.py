"""Source text in; literals out. One language, one file. Pure."""

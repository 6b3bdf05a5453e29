"""Shell 3: relations replayed against pushed source, in processes that are not believed."""

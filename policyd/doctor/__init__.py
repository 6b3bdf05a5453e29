"""What would make the hook silently not run, or run wrongly: looked for, told, and mended."""

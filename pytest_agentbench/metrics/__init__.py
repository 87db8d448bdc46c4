"""Pure metric functions, one idea a file."""

"""The implementations that can be driven."""

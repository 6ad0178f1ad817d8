"""How fast the runtime is, as ratios that are measured in one process. `make bench` runs it."""

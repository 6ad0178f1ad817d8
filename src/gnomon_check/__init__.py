"""The kit: holds any implementation of the tool-call runtime, and any log, to the specification."""

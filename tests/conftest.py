"""Tests are deterministic: one fixed Hypothesis profile, unless a campaign asks for another."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("campaign", database=None, deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("GNOMON_HYPOTHESIS", "fixed"))

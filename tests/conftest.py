"""Tests are deterministic: one fixed Hypothesis profile, unless a campaign asks for another."""

from __future__ import annotations

import os

import trio
from hypothesis import HealthCheck, register_random, settings

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

# Trio shuffles the tasks that are ready together. Its own switch for tests makes that repeatable, and
# Hypothesis seeds it anew for each example.
trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING = True
register_random(trio._core._run._r)

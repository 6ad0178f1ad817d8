"""Adapters that come with the kit, a folder each: to be held to the specification, and to be copied."""

from pathlib import Path

FOLDER = Path(__file__).parent

"""Settings all tests share."""

from __future__ import annotations

from hypothesis import settings

# The first call of a kernel compiles it, so the time of one example says nothing.
settings.register_profile("vicinal", deadline=None)
settings.load_profile("vicinal")

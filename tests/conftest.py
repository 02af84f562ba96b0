"""Property tests are bounded by their number of examples, never by the speed of the machine."""

from hypothesis import HealthCheck, settings

settings.register_profile("visavis", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("visavis")

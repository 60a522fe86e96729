"""Settings of the property tests: no time limit for one example, the machine may be busy with other tests."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

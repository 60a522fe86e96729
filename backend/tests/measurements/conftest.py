"""Settings of the property tests: no time limit for one example, the machine may be busy with other tests.

Sweeps load no compiled loops in the background of tests: `test_loops.py` loads them, all other tests are about numpy.
"""

from hypothesis import settings

from sinemora.measurements import fast

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

fast._asked.set()

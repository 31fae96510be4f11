"""Scripts that train, store and compare policies; each reads from top to bottom."""

import os

# OpenMP's threads wait for each other in a busy loop by default. On a machine that also does other
# things this makes two threads several times slower than one; torch reads the setting on import.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

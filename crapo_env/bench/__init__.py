"""`make bench`: the speed of every path beside that of other libraries, in one interleaved run.

`python -m crapo_env.bench` measures; `python -m crapo_env.bench.guard` counts instructions instead.
"""

"""One short example for each framework; `python -m training.frameworks.NAME --help` says more."""

"""Which version of this project produced a file."""

import subprocess
from importlib import metadata
from pathlib import Path


def package_version() -> str:
    """Return the version of the installed package, or "not installed"."""
    try:
        return metadata.version("crapo-env")
    except metadata.PackageNotFoundError:
        return "not installed"


def source_commit() -> str:
    """Return the commit of the source, or "unknown" outside a checkout."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        answer = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except OSError:
        return "unknown"
    return answer.stdout.strip() or "unknown"

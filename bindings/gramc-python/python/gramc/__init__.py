"""Defines, binds, checks and runs the tools of LLM agents.

Documentation: docs/python.md in the repository of gramc.
"""

from __future__ import annotations

import atexit as _atexit
import os as _os
import sys as _sys

from . import _native
from ._content import Audio, Image
from ._context import Context, Progress
from ._errors import BindError, ExperimentError, SpecError
from ._experiment import aexperiment, experiment
from ._guard import CallRefused, guard
from ._library import ToolLibrary
from ._native import Bound, CallStream, Report, Session, Verdict, __version__
from ._signature import Injected
from ._specification import Specification, SpecifiedTool, load, loads
from ._tool import Tool, specification, tool

__all__ = [
    "Audio",
    "BindError",
    "Bound",
    "CallRefused",
    "CallStream",
    "Context",
    "ExperimentError",
    "Image",
    "Injected",
    "Progress",
    "Report",
    "Session",
    "SpecError",
    "Specification",
    "SpecifiedTool",
    "Tool",
    "ToolLibrary",
    "Verdict",
    "__version__",
    "aexperiment",
    "experiment",
    "guard",
    "load",
    "loads",
    "specification",
    "tool",
]

if _sys.executable:
    _native.set_start_command([_sys.executable, "-m", "gramc"])
_atexit.register(_native.close)
if hasattr(_os, "register_at_fork"):
    from ._workers import forget_threads as _forget_threads

    _os.register_at_fork(after_in_child=_forget_threads)

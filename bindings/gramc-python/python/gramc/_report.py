"""Reports of verdicts: the logger `gramc`, and the callbacks of sessions."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Verdict

logger = logging.getLogger("gramc")


def report(verdict: Verdict, on_verdict: Callable[[Verdict], Any] | None) -> None:
    """Log what is notable about a call, and pass the verdict to the callback."""
    if verdict.exception is not None or logger.isEnabledFor(logging.INFO):
        _log(verdict)
    if on_verdict is not None:
        try:
            on_verdict(verdict)
        except Exception:
            logger.exception("`on_verdict` failed for a call of `%s`", verdict.name)


def storable(exception: BaseException | None) -> BaseException | None:
    """The exception of a verdict, if it can be pickled."""
    try:
        return pickle.loads(pickle.dumps(exception))  # type: ignore[no-any-return]
    except Exception:
        return None


def _log(verdict: Verdict) -> None:
    if verdict.exception is not None:
        error = verdict.exception
        details = (type(error), error, error.__traceback__)
        logger.error("`%s` raised %s", verdict.name, type(error).__name__, exc_info=details)
    elif verdict.error_type is not None:
        logger.info("refused a call of `%s`: %s", verdict.name, verdict.message)
    if verdict.repairs:
        rules = ", ".join(f"{one['path']} ({one['rule']})" for one in verdict.repairs)
        logger.info("repaired a call of `%s`: %s", verdict.name, rules)
    if verdict.stripped:
        logger.info("removed arguments of `%s`: %s", verdict.name, ", ".join(verdict.stripped))

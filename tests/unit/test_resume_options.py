"""Which options of a run that is gone on with are not repeated, and said not to be."""

from __future__ import annotations

import pytest

from hybridwrap.run.resume import options_not_repeated


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("apply", "--auto-approve", "-e", "prod"), ()),
        (("apply", "-target", "x.y", "-target=x.z"), ("-target",)),
        (("apply", "--target=x.y", "-replace", "x.y", "-refresh=false"), ("-target", "-replace", "-refresh")),
        (("apply", "target", "-refresh-only"), ("-refresh-only",)),
    ],
)
def test_those_are_named_that_made_its_plans_narrower(argv: tuple[str, ...], said: tuple[str, ...]) -> None:
    assert options_not_repeated(argv) == said

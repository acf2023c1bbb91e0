"""The command line in this process."""

import pytest

from sim.__main__ import main


def run_import(*words: str) -> int:
    """Exit code of `python -m sim import …`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["sim", "import", *words])
        with pytest.raises(SystemExit) as end:
            main()
    return int(end.value.code or 0)

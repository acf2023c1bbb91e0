"""Random examples by the number: half of them in CI, all with --all, far more with --fuzz, none silently left out."""

from hypothesis import HealthCheck, given, note, settings, strategies

FUZZ_FACTOR = 20
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def share_of(config, count):
    """How many examples of `count` are looked at now."""
    if config.getoption("--fuzz"):
        return count * FUZZ_FACTOR
    return count if config.getoption("--all") else -(-count // 2)


def hunt(config, count, check, *drawn_from, always=0):
    """Call `check` with examples drawn from the strategies: a share of `count`, and no fewer than `always`."""
    wanted, seen = max(always, share_of(config, count)), 0

    @settings(max_examples=wanted, suppress_health_check=SLOW)
    @given(strategies.tuples(*drawn_from))
    def counted(drawn):
        nonlocal seen
        seen += 1
        note(repr(drawn))
        check(*drawn)

    counted()
    assert seen >= wanted

"""Random examples by the number: so many in CI, far more with --fuzz, and none of them silently left out."""

from hypothesis import HealthCheck, given, note, settings, strategies

FUZZ_FACTOR = 20
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def hunt(config, count, check, *drawn_from):
    """Call `check` with `count` examples drawn from the strategies."""
    wanted, seen = count * (FUZZ_FACTOR if config.getoption("--fuzz") else 1), 0

    @settings(max_examples=wanted, suppress_health_check=SLOW)
    @given(strategies.tuples(*drawn_from))
    def counted(drawn):
        nonlocal seen
        seen += 1
        note(repr(drawn))
        check(*drawn)

    counted()
    assert seen >= wanted

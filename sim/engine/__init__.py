"""The engine: state, block pool, prefix caches, queues, record and loop, compiled; a file per scheduler."""

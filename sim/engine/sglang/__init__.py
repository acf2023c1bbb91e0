"""SGLang's scheduler, compiled: prefill before decode, reserved outputs, a radix tree, both event loops.

Mirrors SGLang 0.5.23 as recorded in tests/conformance; tests/oracle holds the same rules in plain Python.
"""

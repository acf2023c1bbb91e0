"""llama-server: fixed slots, one batch an iteration, a prefix cache per slot; about build b11434 of llama.cpp."""

"""The web side of Batchscope. It knows sim; sim never knows it."""

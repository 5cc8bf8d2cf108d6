"""The pages of the manual, as the console and ``runwatch help`` show them."""

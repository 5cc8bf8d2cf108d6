"""The vocabulary in which resources, their actions and mutations are declared. No instances."""

"""The vocabulary in which resources, actions and mutations are declared. Contains no instances."""

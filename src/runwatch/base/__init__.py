"""Foundation of all packages. Does not depend on the API."""

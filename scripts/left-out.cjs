// Replaces parts of libraries that nothing calls in the bundle.

// Stands in the bundle for parts of libraries that nothing calls.

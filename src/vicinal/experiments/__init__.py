"""Published tables and trainings on the sphere, on their way to rooms of their own."""

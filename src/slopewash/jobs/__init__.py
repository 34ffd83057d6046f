"""Jobs: what a recipe does, as steps that are known before anything runs."""

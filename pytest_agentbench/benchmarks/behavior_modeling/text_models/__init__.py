"""The models that read review texts: which there are, how they are loaded, run and remembered."""

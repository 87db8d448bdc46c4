"""The models that read review texts: found, loaded, run, and their vectors cached.

They give vectors, probabilities and sentiments; nothing here compares two texts.
"""

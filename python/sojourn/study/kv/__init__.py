"""What a study of the memcached middleware (`system.kv`) has of its own: a template of `[fit]`, and analyses.

template   `kv`: rivals by configuration, from models/          laws       `kv.laws`: interactive law, Little's law; knees
measured_maxima   `kv.measured`: curves, maxima, percentiles           limits     `kv.limits`: what limited each point
multiget   `kv.multiget`: split or whole; client_and_middleware: histograms     model_errors     `kv.models`: errors by design, M/M/1, M/M/m
"""

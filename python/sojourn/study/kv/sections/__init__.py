"""The sections of the report, one file each.

measured    curves over clients, maxima and knees, percentiles     multiget   split or whole, client beside middleware
factorial   effects, variation, residuals, transformation          laws       interactive law, Little's law
limits      what limited each point                                models     fitted times, errors where nothing was fitted
"""

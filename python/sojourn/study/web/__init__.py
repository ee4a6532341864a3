"""What only studies of a web system show: the two-class model of Chen et al., ICPE 2014, beside what was run.

Map: `two_class` the template, its variants as rivals · `known` what a request costs beside its known work · `parts` what was run,
by configuration · `table3` errors in Chen et al.'s form, by kind · `figures` its figures on our data · `analysis` the lines and
sections · `truth` a virtual host's own demands beside what was fitted.
"""

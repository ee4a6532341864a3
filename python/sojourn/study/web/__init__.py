"""What only studies of a web system show: the two-class model of Chen et al., ICPE 2014, beside what was run.

Map: `two_class` the template, its variants as rivals · `known_demands` what a request costs beside its known work ·
`web_configurations` what was run, by configuration · `chen_table3` errors in Chen et al.'s form, by kind · `chen_figures`
its figures on our data · `analysis` the lines and sections · `interval_coverage` a virtual host's own demands beside what
was fitted.
"""

"""The bulletin board on other software: Apache httpd, a servlet in Tomcat, and MariaDB, from the distribution's packages.

Map: `stack_programs` where they are, and what to install · `apache`, `tomcat`, `mariadb` their configurations, started
and ended · `board_rows` the same rows as in PostgreSQL, `schema.sql`, `indices.sql` the tables,
`mariadb_cluster` loaded once, a copy a run · `board` the servlet in Java, `statements.sql` what it asks of the tables · `java_tiers` the
tiers of one run, `warm_up` what goes before it.
"""

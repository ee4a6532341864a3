"""Published tables read against the laws that they must obey, without being told where they are wrong.

printed_numbers    cells as printed: value and rounding       factorial_tables    population of every run, means, errors, effects
law_violation      one broken law: where, found, expected     station_tables      M/M/1 and M/M/m recomputed, Little, E[n] >= E[n_q]
check_tables       all checks over a set of tables            network_tables      a delay centre cannot be a bottleneck
report_section     findings as a part of a report             throughput_claims   interactive law, queue lengths
"""

from sojourn.findings.check_tables import findings
from sojourn.findings.law_violation import LawViolation
from sojourn.findings.printed_numbers import read_tables
from sojourn.findings.report_section import findings_section

__all__ = ["LawViolation", "findings", "findings_section", "read_tables"]

"""Published tables read against the laws that they must obey, without being told where they are wrong.

printed     cells as printed: value and rounding        factorial   population of every run, means, errors, effects
finding     one broken law: where, found, expected      stations    M/M/1 and M/M/m recomputed, Little, E[n] >= E[n_q]
check       all checks over a set of tables             networks    a delay centre is no bottleneck
section     findings as a part of a report              claims      interactive law, queue lengths
"""

from sojourn.findings.check import findings
from sojourn.findings.finding import Finding
from sojourn.findings.printed import read_tables
from sojourn.findings.section import findings_section

__all__ = ["Finding", "findings", "findings_section", "read_tables"]

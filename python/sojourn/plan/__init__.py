"""Planning: which configuration meets an objective at least cost, and how sure that is; merging, tables and balancing of stations."""

from sojourn.plan.balance import balance as balance
from sojourn.plan.merge import merge as merge
from sojourn.plan.nested_balance import NestedLevel as NestedLevel
from sojourn.plan.piece_sizes import piece_sizes as piece_sizes
from sojourn.plan.plan import plan as plan
from sojourn.plan.plan_result import Plan as Plan
from sojourn.plan.plan_result import PlannedConfiguration as PlannedConfiguration
from sojourn.plan.staff_table import staff_table as staff_table

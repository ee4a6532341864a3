"""Policies that set the number of workers, on a simulated queue, over a recorded log (docs/howto/control-capacity.md)."""

from sojourn.control.configurations import Choice as Choice
from sojourn.control.configurations import Configurations as Configurations
from sojourn.control.decision import Decision as Decision
from sojourn.control.decision import Option as Option
from sojourn.control.decision import Seen as Seen
from sojourn.control.decision import Set as Set
from sojourn.control.estimation import DemandEstimate as DemandEstimate
from sojourn.control.estimation import ValidatedRange as ValidatedRange
from sojourn.control.estimation import updated as updated
from sojourn.control.follow import FollowedDemand as FollowedDemand
from sojourn.control.follow import follow as follow
from sojourn.control.guard_rails import GuardRails as GuardRails
from sojourn.control.hpa import Hpa as Hpa
from sojourn.control.kpa import Kpa as Kpa
from sojourn.control.load_trace import Load as Load
from sojourn.control.load_trace import made as made
from sojourn.control.model_policy import ModelPolicy as ModelPolicy
from sojourn.control.replay import replay as replay
from sojourn.control.simple_policies import Fixed as Fixed
from sojourn.control.simple_policies import Schedule as Schedule
from sojourn.control.simple_policies import SquareRoot as SquareRoot
from sojourn.control.simulate import ControlledRun as ControlledRun
from sojourn.control.simulate import simulate as simulate

"""Models of the message service: parameters from the reference run and the database's calibration.

parallelism   how much the database does at once: the document's rule, the measured curve, the scalability law
document      the document's own network                network   ours: workers held, pool of connections, declining
fit           parameters with intervals                 best      workers and connections, and the regret
"""

from sojourn.study.messages.models.best import Best, Regret, best, regret
from sojourn.study.messages.models.document import document_network
from sojourn.study.messages.models.fit import CALIBRATION, REFERENCE, CurvePoint, Fitted, fit
from sojourn.study.messages.models.network import Demands, Prediction, Shape, message_network, predict
from sojourn.study.messages.models.parallelism import (
    DocumentRule,
    Parallelism,
    ScalabilityLaw,
    ServiceCurve,
    order_of_parallelism,
    parallel,
)

__all__ = [
    "CALIBRATION",
    "REFERENCE",
    "Best",
    "CurvePoint",
    "Demands",
    "DocumentRule",
    "Fitted",
    "Parallelism",
    "Prediction",
    "Regret",
    "ScalabilityLaw",
    "ServiceCurve",
    "Shape",
    "best",
    "document_network",
    "fit",
    "message_network",
    "order_of_parallelism",
    "parallel",
    "predict",
    "regret",
]

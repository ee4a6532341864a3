"""A web shop on cores that interrupts share, and the two-class model of Chen et al., ICPE 2014, beside what was run.

Map: `web_shop` the system, `web_shop_simulated` the same on a virtual host, `web_guest` the same in a guest · `web_service` how the shop
is started, `serve_web` its command · `model_files` the models that are fitted (`priority.toml` and those beside it), as rivals ·
`fitted_web` one of them as a study asks it · `known_demands` what a request costs beside its known work · `web_configurations` what was
run, by configuration · `chen_table3`, `chen_errors` errors in Chen et al.'s form, by kind · `chen_figures` its figures on our data ·
`low_load` more NICs at low load · `leading_core_chain` the chain of a leading core, solved numerically ·
`two_class_analysis` the lines and sections · `interval_coverage` a virtual host's own demands beside what was fitted.
"""

from sojourn import Case

CASE = Case(
    system_classes={
        "web": "sojourn_cases.web.web_shop:WebSystem",
        "web-virtual": "sojourn_cases.web.web_shop_simulated:WebVirtualSystem",
        "web-guest": "sojourn_cases.web.web_guest:WebGuestSystem",
    },
    fit_templates={
        "web-models": "sojourn_cases.web.model_files:TEMPLATE",
        "two-class": "sojourn_cases.web.model_files:TEMPLATE",  # its name before 2026-11-26
    },
    analysis_functions={
        "two-class": "sojourn_cases.web.two_class_analysis:two_class",
        "two-class.truth": "sojourn_cases.web.interval_coverage:against_truth",
    },
    worker_functions={"web": "sojourn_cases.worker_kinds:web"},
    command_functions={"serve": {"web": "sojourn_cases.web.serve_web:web"}},
    study_folders={
        "web": "sojourn_cases:studies/web",
        "web-virtual": "sojourn_cases:studies/web-virtual",
        "web-vm": "sojourn_cases:studies/web-vm",
    },
)

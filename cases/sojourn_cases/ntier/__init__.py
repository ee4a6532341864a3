"""A bulletin board of several tiers that share cores: what each demands of a core, and what more cores would do.

Map: `bulletin_board` the system, its options and tiers beside it, `bulletin_board_simulated` the same with known times · `site_stack` the
software that it is made of: `default_stack`, or `apache_tomcat_mariadb` · `bulletin_server`, `bulletin_cluster`, `nginx` its services,
`tier_process` a program of the distribution as one; `bulletin_database` the tables; `bulletin_mixes` its users · `serve_bulletin`,
`load_bulletin` its commands · `hand-over.toml`, `constant.toml` the models of tiers that share cores, `package-pairs.toml`,
`package-step.toml`, `scalability.toml` of cores in two packages, `guests.toml`, `guests-cold.toml` of guests on shared cores ·
`tier_demands` CPU time of each tier in a run · `maxima` the load that each configuration carries · `demands` what pages demand · `io_waits`
time of the cores that passed waiting for disks · `cache_misses` misses of the last-level cache · `factor_ratios` one way to handle writes
against another · `site_hosts` a host for each server, `host_balance` how even their load is · `bulletin_guests` the board in two guests,
`guest_tiers` these, `guest_database` what the second is made of · `guest_account` busy by the guest and by the host, `guest_views` both
against the users, `guest_predictions` what was predicted of them, `guests_analysis` all of it.
"""

from sojourn import Case

CASE = Case(
    system_classes={
        "bulletin": "sojourn_cases.ntier.bulletin_board:BulletinSystem",
        "bulletin-simulated": "sojourn_cases.ntier.bulletin_board_simulated:SimulatedBulletin",
        "bulletin-guests": "sojourn_cases.ntier.bulletin_guests:BulletinGuestSystem",
    },
    analysis_functions={
        "io_waits": "sojourn_cases.ntier.io_waits:io_waits",
        "ntier.demands": "sojourn_cases.ntier.demands:demands_analysis",
        "ntier.guests": "sojourn_cases.ntier.guests_analysis:guests_analysis",
        "ntier.hosts": "sojourn_cases.ntier.host_balance:hosts_analysis",
        "ntier.misses": "sojourn_cases.ntier.cache_misses:misses_analysis",
        "ntier.ratios": "sojourn_cases.ntier.factor_ratios:ratios_analysis",
        "ntier.maxima": "sojourn_cases.ntier.maxima:maxima_analysis",
    },
    worker_functions={"bulletin": "sojourn_cases.worker_kinds:bulletin"},
    mix_functions={
        "browse": "sojourn_cases.ntier.bulletin_mixes:browse",
        "readwrite": "sojourn_cases.ntier.bulletin_mixes:readwrite",
    },
    command_functions={
        "serve": {"bulletin": "sojourn_cases.ntier.serve_bulletin:bulletin"},
        "load": {"bulletin": "sojourn_cases.ntier.load_bulletin:BulletinUsers"},
    },
    ability_checks={"apache-tomcat-mariadb": "sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs:stack_check"},
    study_folders={
        "ntier": "sojourn_cases:studies/ntier",
        "ntier-virtual": "sojourn_cases:studies/ntier-virtual",
        "ntier-vm": "sojourn_cases:studies/ntier-vm",
    },
)

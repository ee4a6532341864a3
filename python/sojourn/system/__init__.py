"""Systems of the five case studies (`study/kinds` has those of a user's own).

Map: `kv` a memcached middleware · `message_service` the message service, `message_service_metrics` what it says of itself,
`message_service_simulated` the same with known times · `bulletin_board` a three-tier site, `bulletin_board_options` what is said of
it, `bulletin_board_tiers` its processes in one run, `bulletin_board_simulated` the same with everything known, `database_disk` its
disk · `storage` I/Os on paths to a disk, `storage_paths` which there are, `storage_factors` its factors, `storage_simulated` the same
with known costs · `web_shop` the web shop on hosts of its own, `web_shop_simulated` on a simulated host.
"""

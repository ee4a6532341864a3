"""What a load is, one file a protocol: the generator's configuration from what a user says.

Map: `http_load` plain HTTP, and what all loads have in common · `http_request` its requests · `credentials` from the environment ·
`session_load` users in sessions, `transition_matrix` their matrix, `session_walk` walks on it · `kv_load` memcached · `messages_load` the
message service · `block_load` block I/O.
"""

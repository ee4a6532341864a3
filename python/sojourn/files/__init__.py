"""Files of a user, a peer or another user of the machine: read within limits, written whole or not at all."""

"""What more than one case needs: memcached, and a private PostgreSQL."""

"""What more than one case needs: memcached, a private PostgreSQL, hosts in namespaces, and the kernel and disks of guests."""

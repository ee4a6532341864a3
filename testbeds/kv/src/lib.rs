//! An embedded memcached-compatible server.

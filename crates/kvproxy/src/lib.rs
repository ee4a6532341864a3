//! A middleware for memcached.

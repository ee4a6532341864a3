//! A virtual host.

//! What a service opens: addresses and threads.

use std::net::{SocketAddr, TcpListener};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use crate::{system, ServingError};

/// A listener that does not block, and where it listens: port 0 takes a free one.
///
/// # Errors
/// `ServingError::Address` where the address cannot be had.
pub fn listen(address: &str) -> Result<(TcpListener, SocketAddr), ServingError> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    bound.map_err(|source| ServingError::Address { address: address.into(), source })
}

/// A thread with a name that `ps` and `top` show.
///
/// # Errors
/// `ServingError::System` where the process may have no further one.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    run: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, ServingError> {
    Builder::new().name(name).spawn_scoped(scope, run).map_err(system("a thread"))
}

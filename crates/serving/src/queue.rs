//! A bounded queue between threads: first come, first served.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
struct QueueState<T> {
    items: VecDeque<T>,
    closed: bool,
    asleep: usize,
}

/// Items that wait to be taken; of more than it may hold none is added.
#[derive(Debug)]
pub struct BoundedQueue<T> {
    state: Mutex<QueueState<T>>,
    some: Condvar,
    most: usize,
}

impl<T> BoundedQueue<T> {
    /// For at most `most` items.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let state = QueueState { items: VecDeque::new(), closed: false, asleep: 0 };
        Self { state: Mutex::new(state), some: Condvar::new(), most }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an item at the end.
    ///
    /// # Errors
    /// The item, where the queue is full.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.items.len() >= self.most {
            return Err(item);
        }
        state.items.push_back(item);
        let wake = state.asleep > 0;
        drop(state);
        if wake {
            self.some.notify_one();
        }
        Ok(())
    }

    /// The first item; waits for one. `None` when the queue is closed and empty.
    pub fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(first) = state.items.pop_front() {
                return Some(first);
            }
            if state.closed {
                return None;
            }
            state.asleep += 1;
            state = self.some.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    /// Items that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().items.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whoever takes gets what is left, then `None`.
    pub fn close(&self) {
        self.lock().closed = true;
        self.some.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_so_many_and_gives_them_in_order() {
        let queue = BoundedQueue::new(2);
        assert_eq!([queue.put(1), queue.put(2), queue.put(3)], [Ok(()), Ok(()), Err(3)]);
        assert_eq!((queue.take(), queue.put(4)), (Some(1), Ok(())));
        queue.close();
        assert_eq!([queue.take(), queue.take(), queue.take()], [Some(2), Some(4), None]);
    }
}

//! CPU time of the threads of this process, as /proc has it.

/// The calling thread's, ns; `None` where /proc does not say.
#[must_use]
pub fn own_ns() -> Option<u64> {
    run_ns("/proc/thread-self/schedstat")
}

/// That of the thread with this number, ns; `None` also where it has ended.
#[must_use]
pub fn of_thread_ns(number: u64) -> Option<u64> {
    run_ns(&format!("/proc/self/task/{number}/schedstat"))
}

/// That of all threads that live, ns.
#[must_use]
pub fn of_all_ns() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(|task| run_ns(task.path().join("schedstat").to_str()?)).sum()
}

/// The calling thread's number in /proc; 0 where it does not say.
#[must_use]
pub fn own_number() -> u64 {
    let link = std::fs::read_link("/proc/thread-self").unwrap_or_default();
    let number = link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    number.unwrap_or(0)
}

/// The first number of a schedstat file: time on a CPU, ns.
fn run_ns(path: &str) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.split(' ').next()?.parse().ok()
}

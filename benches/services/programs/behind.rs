//! A service in Rust: a thread a connection; a delay of 6 ms for all, then two at a time compute for some 3 ms.
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

fn work(rounds: u64) -> u64 {
    (0..rounds).fold(88172645463325252, |mut value: u64, _| {
        value ^= value << 13;
        value ^= value >> 7;
        std::hint::black_box(value ^ (value << 17))
    })
}

fn main() {
    let port = std::env::args().nth(1).expect("a port");
    let listening = TcpListener::bind(format!("127.0.0.1:{port}")).expect("to listen");
    let cores = Arc::new((Mutex::new(2), Condvar::new()));
    for mut client in listening.incoming().flatten() {
        let cores = cores.clone();
        std::thread::spawn(move || {
            let mut text = [0; 4096];
            let _ = client.set_nodelay(true);
            while client.read(&mut text).is_ok_and(|count| count > 0) {
                std::thread::sleep(Duration::from_millis(6));
                *cores.1.wait_while(cores.0.lock().unwrap(), |free| *free == 0).unwrap() -= 1;
                work(700_000);
                *cores.0.lock().unwrap() += 1;
                cores.1.notify_one();
                if client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                    break;
                }
            }
        });
    }
}

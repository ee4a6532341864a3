//! A service in Rust: a thread a connection, three tokens, each held for 4 ms by nine requests of ten and for 30 ms by the tenth.
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

fn main() {
    let port = std::env::args().nth(1).expect("a port");
    let listening = TcpListener::bind(format!("127.0.0.1:{port}")).expect("to listen");
    let tokens = Arc::new((Mutex::new(3), Condvar::new()));
    for (number, client) in listening.incoming().flatten().enumerate() {
        let tokens = tokens.clone();
        std::thread::spawn(move || {
            let (mut client, mut text, mut state) = (client, [0; 4096], number as u64 * 7919 + 1);
            let _ = client.set_nodelay(true);
            while client.read(&mut text).is_ok_and(|count| count > 0) {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let long = (state >> 33) % 10 == 0;
                let mut free = tokens.1.wait_while(tokens.0.lock().unwrap(), |free| *free == 0).unwrap();
                *free -= 1;
                drop(free);
                std::thread::sleep(Duration::from_millis(if long { 30 } else { 4 }));
                *tokens.0.lock().unwrap() += 1;
                tokens.1.notify_one();
                if client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                    break;
                }
            }
        });
    }
}

//! A server of rustls, with certificates of openssl's making.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use serde_json::{json, Value};

use super::poisson;

/// The folder of certificates, made once.
pub fn certificates() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let made = || {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("certificates");
        std::fs::create_dir_all(&folder).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/make-certificates");
        let done = Command::new(script).arg(&folder).status().unwrap();
        assert!(done.success(), "openssl makes the certificates of the tests: tools/system-packages");
        folder
    };
    MADE.get_or_init(made).clone()
}

pub struct TlsServer {
    pub port: u16,
    pub opened: Arc<AtomicUsize>,
}

impl TlsServer {
    /// Serves with the certificate of this name; TLS 1.2 only where that is asked.
    pub fn start(name: &str, old: bool) -> TlsServer {
        TlsServer::start_with(name, old, 2)
    }

    /// With so many tickets in each session.
    pub fn start_with(name: &str, old: bool, tickets: usize) -> TlsServer {
        let folder = certificates();
        let chain = CertificateDer::pem_file_iter(folder.join(format!("{name}.pem"))).unwrap();
        let key = PrivateKeyDer::from_pem_file(folder.join(format!("{name}.key"))).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions: &[_] = if old {
            &[&rustls::version::TLS12]
        } else {
            &[&rustls::version::TLS13, &rustls::version::TLS12]
        };
        let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
        let config = config.with_no_client_auth().with_single_cert(chain.map(Result::unwrap).collect(), key);
        let mut config = config.unwrap();
        config.send_tls13_tickets = tickets;
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let session = ServerConnection::new(Arc::clone(&config)).unwrap();
                std::thread::spawn(move || serve(session, stream));
            }
        });
        TlsServer { port, opened }
    }

    pub fn load(&self, path: &str) -> Value {
        let mut config = poisson(&format!("https://localhost:{}{path}", self.port), 60.0, 0.5);
        config["tls"] = json!({"ca": certificates().join("ca.pem")});
        config
    }
}

fn serve(mut session: ServerConnection, mut stream: TcpStream) {
    let mut tls = rustls::Stream::new(&mut session, &mut stream);
    let (mut kept, mut part) = (Vec::new(), [0; 65536]);
    while let Ok(count @ 1..) = tls.read(&mut part) {
        kept.extend_from_slice(&part[..count]);
        if !kept.ends_with(b"\r\n\r\n") && !kept.ends_with(b"END") {
            continue;
        }
        let path = String::from_utf8_lossy(&kept).split(' ').nth(1).unwrap_or("").to_string();
        kept.clear();
        let large = "x".repeat(300_000);
        let text = match path.as_str() {
            "/close" | "/cut" => "HTTP/1.1 200 OK\r\n\r\nhello".to_string(),
            "/large" => format!("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n{large}"),
            "/chunked" => {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".to_string()
            }
            "/head" => format!("HTTP/1.1 200 OK\r\nX: {large}\r\n\r\n"),
            "/many" => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 65 * 1024 * 1024),
            "/more" => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello".to_string(),
            _ => "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_string(),
        };
        if tls.write_all(text.as_bytes()).is_err() || path == "/cut" {
            return;
        }
        if path == "/close" {
            tls.conn.send_close_notify();
            let _ = tls.flush();
            return;
        }
    }
}

//! Spans of requests, written to a file as OpenTelemetry's collector writes them: OTLP/JSON, an object a line.
//!
//! Whole traces are kept or left out, by their id (`ot=th:`, consistent probability sampling). Requests never wait for the file: a trace
//! that finds the buffer full is dropped whole, and counted, so that visits stay those of whole requests.
//! Specification: opentelemetry.io/docs/specs/otlp and /docs/specs/otel/trace/tracestate-probability-sampling.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use sojourn_record::clock::WallClockOffset;

use crate::{log, BoundedQueue, LogLevel, ServingError};

/// Traces that wait to be written.
const MOST_WAITING: usize = 4096;
/// Traces a line.
const BATCH: usize = 64;
/// Ids have 56 bits of randomness.
const RANDOM_BITS: u32 = 56;

/// What a span is to its caller, by the numbers of OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// One span of a request; times by the clock of records, ns.
#[derive(Clone, Debug)]
pub struct Span {
    /// Never 0.
    pub id: u64,
    /// 0: none.
    pub parent: u64,
    pub name: String,
    pub kind: SpanKind,
    pub start: u64,
    pub end: u64,
    /// An attribute: its name and its text, which say who is called.
    pub called: Option<(&'static str, &'static str)>,
}

/// A request with its spans.
#[derive(Clone, Debug)]
pub struct RequestTrace {
    /// Never 0; its last 56 bits are random.
    pub id: u128,
    pub spans: Vec<Span>,
}

/// What was kept, and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceCounts {
    /// Traces that were written.
    pub traces: u64,
    pub spans: u64,
    /// Not kept, by the share that was asked for.
    pub not_sampled: u64,
    /// Traces that found the buffer full, or the file given up.
    pub dropped: u64,
}

/// Takes traces from all threads; one thread writes them.
#[derive(Debug)]
pub struct TraceFile {
    queue: BoundedQueue<RequestTrace>,
    /// Traces with less randomness than this are not kept.
    threshold: u64,
    state: String,
    wall: WallClockOffset,
    written: AtomicU64,
    spans: AtomicU64,
    not_sampled: AtomicU64,
    dropped: AtomicU64,
}

impl TraceFile {
    /// Of traces a share `share` in [1e-9, 1] is kept.
    ///
    /// # Errors
    /// `ServingError::System` where the file cannot be made.
    pub fn create(path: &Path, share: f64) -> Result<(Self, File), ServingError> {
        let file = sojourn_record::new_file(path).map_err(crate::system("the file of traces"))?;
        let whole = 1_u64 << RANDOM_BITS;
        let threshold = whole - (share * whole as f64).round().clamp(1.0, whole as f64) as u64;
        let digits = format!("{threshold:014x}");
        let digits = digits.trim_end_matches('0');
        let state = format!("ot=th:{}", if digits.is_empty() { "0" } else { digits });
        let zero = AtomicU64::default;
        let counts = (zero(), zero(), zero(), zero());
        let (written, spans, not_sampled, dropped) = counts;
        let (queue, wall) = (BoundedQueue::new(MOST_WAITING), WallClockOffset::now());
        Ok((Self { queue, threshold, state, wall, written, spans, not_sampled, dropped }, file))
    }

    /// Whether a trace of this id is to be kept; one that is not is counted.
    pub fn keeps(&self, id: u128) -> bool {
        let random = (id & ((1 << RANDOM_BITS) - 1)) as u64;
        let kept = random >= self.threshold;
        if !kept {
            self.not_sampled.fetch_add(1, Ordering::Relaxed);
        }
        kept
    }

    /// Hands a trace over, without waiting.
    pub fn offer(&self, trace: RequestTrace) {
        if self.queue.put(trace).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Nothing is offered any more: `write` ends when all is written.
    pub fn close(&self) {
        self.queue.close();
    }

    /// Writes what comes, until `close`; a file that cannot be written is given up, and the rest counted as dropped.
    pub fn write(&self, file: File, service: &str) {
        let mut file = Some(file);
        let mut batch = Vec::new();
        while let Some(first) = self.queue.take() {
            batch.push(first);
            while let Some(next) = (batch.len() < BATCH).then(|| self.queue.try_take()).flatten() {
                batch.push(next);
            }
            let done = file.as_mut().map(|file| file.write_all(self.line(service, &batch).as_bytes()));
            match done {
                Some(Ok(())) => {
                    self.written.fetch_add(batch.len() as u64, Ordering::Relaxed);
                    let spans: usize = batch.iter().map(|trace| trace.spans.len()).sum();
                    self.spans.fetch_add(spans as u64, Ordering::Relaxed);
                }
                Some(Err(error)) => {
                    log(LogLevel::Error, "traces_given_up", &[("reason", &error)]);
                    file = None;
                    self.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
                }
                None => _ = self.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed),
            }
            batch.clear();
        }
    }

    #[must_use]
    pub fn counts(&self) -> TraceCounts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        TraceCounts {
            traces: of(&self.written),
            spans: of(&self.spans),
            not_sampled: of(&self.not_sampled),
            dropped: of(&self.dropped),
        }
    }

    fn line(&self, service: &str, traces: &[RequestTrace]) -> String {
        let mut out = format!(
            r#"{{"resourceSpans":[{{"resource":{{"attributes":[{}]}},"scopeSpans":[{{"scope":{{"name":"sojourn"}},"spans":["#,
            attribute("service.name", service)
        );
        let mut comma = "";
        for trace in traces {
            for span in &trace.spans {
                out.push_str(comma);
                self.span(&mut out, trace.id, span);
                comma = ",";
            }
        }
        out.push_str("]}]}]}\n");
        out
    }

    /// Writing to a string cannot fail.
    fn span(&self, out: &mut String, trace: u128, span: &Span) {
        let _ = write!(out, r#"{{"traceId":"{trace:032x}","spanId":"{:016x}","#, span.id);
        if span.parent != 0 {
            let _ = write!(out, r#""parentSpanId":"{:016x}","#, span.parent);
        }
        let [start, end] = [span.start, span.end].map(|ns| ns.saturating_add_signed(self.wall.ns));
        let _ = write!(
            out,
            r#""traceState":"{}","name":{},"kind":{},"startTimeUnixNano":"{start}","endTimeUnixNano":"{end}""#,
            self.state,
            quoted(&span.name),
            span.kind as u8,
        );
        if let Some((key, text)) = span.called {
            let _ = write!(out, r#","attributes":[{}]"#, attribute(key, text));
        }
        out.push('}');
    }
}

fn attribute(key: &str, text: &str) -> String {
    format!(r#"{{"key":{},"value":{{"stringValue":{}}}}}"#, quoted(key), quoted(text))
}

/// As JSON has a text.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if control < ' ' => _ = write!(out, "\\u{:04x}", control as u32),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(share: f64) -> (TraceFile, File) {
        TraceFile::create(Path::new("/dev/null"), share).expect("a device")
    }

    fn request(id: u128) -> RequestTrace {
        let span = |id, parent, kind| Span {
            id,
            parent,
            name: "a\"b".into(),
            kind,
            start: 5,
            end: 7,
            called: (kind == SpanKind::Client).then_some(("db.system.name", "postgresql")),
        };
        RequestTrace { id, spans: vec![span(1, 0, SpanKind::Server), span(2, 1, SpanKind::Client)] }
    }

    /// Thresholds as the specification has them: 1 - 0.01 is fd70a3d70a3d71 of 2^56, a half is 8, all is 0.
    #[test]
    fn ids_above_the_threshold_are_kept() {
        for (share, state) in [(1.0, "ot=th:0"), (0.5, "ot=th:8"), (0.01, "ot=th:fd70a3d70a3d71")] {
            assert_eq!(made(share).0.state, state);
        }
        let (half, _) = made(0.5);
        let middle = 1_u128 << 55;
        assert!(
            half.keeps(middle) && half.keeps(middle | (1 << 100)) && !half.keeps((middle - 1) | (1 << 100))
        );
        assert_eq!(half.counts().not_sampled, 1);
    }

    #[test]
    fn a_line_is_what_the_collector_writes() {
        let (mut file, _) = made(1.0);
        file.wall = WallClockOffset { ns: 1000, error_ns: 1 };
        let line = file.line("shop", &[request(0xa1)]);
        let head = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"#;
        assert!(line.starts_with(head) && line.ends_with("]}]}]}\n"), "{line}");
        let call = concat!(
            r#"{"traceId":"000000000000000000000000000000a1","spanId":"0000000000000002","parentSpanId":"0000000000000001","#,
            r#""traceState":"ot=th:0","name":"a\"b","kind":3,"startTimeUnixNano":"1005","endTimeUnixNano":"1007","#,
            r#""attributes":[{"key":"db.system.name","value":{"stringValue":"postgresql"}}]}"#
        );
        assert!(line.contains(call), "{line}");
    }

    #[test]
    fn what_finds_the_buffer_full_is_dropped_whole_and_counted() {
        let (traces, file) = made(1.0);
        (0..MOST_WAITING as u128 + 3).for_each(|i| traces.offer(request(i + 1)));
        traces.close();
        traces.write(file, "shop");
        let kept = MOST_WAITING as u64;
        assert_eq!(
            traces.counts(),
            TraceCounts { traces: kept, spans: 2 * kept, not_sampled: 0, dropped: 3 }
        );
    }
}

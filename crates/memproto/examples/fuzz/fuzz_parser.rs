//! The protocol alone: no panic, any split says the same, nothing beyond the input, parse of compose is the identity.

use std::time::Instant;

use sojourn_memproto::{
    parse, ParseStep, Reply, ReplyError, ReplyKind, ReplyScan, Request, RequestLimits, Values,
};

use crate::corpus::{ANSWERS, REQUESTS};
use crate::mutate::{cuts, stream};
use crate::random::Random;
use crate::{ensure, Checked};

/// Small, so that what is just above and just below a limit is met often.
const LIMITS: [RequestLimits; 2] = [
    RequestLimits { key_bytes: 250, value_bytes: 1 << 20, line_bytes: 1 << 16 },
    RequestLimits { key_bytes: 8, value_bytes: 12, line_bytes: 64 },
];
const ANSWER_BYTES: [usize; 2] = [1 << 20, 100];
const MOST_BYTES: usize = 30_000;
const SPLITS: usize = 3;

#[derive(Default)]
struct Counts {
    inputs: u64,
    bytes: u64,
    requests: u64,
    refusals: u64,
    answers: u64,
    broken_answers: u64,
}

/// Counts as JSON.
pub fn run(seed: u64, until: Instant) -> Checked<String> {
    let (mut random, mut counts) = (Random::new(seed), Counts::default());
    while Instant::now() < until {
        let bytes = stream(&mut random, &REQUESTS, MOST_BYTES);
        let answer = stream(&mut random, &ANSWERS, MOST_BYTES);
        counts.inputs += 2;
        counts.bytes += (bytes.len() + answer.len()) as u64;
        // A panic is a fault too; the bytes that made it are said first.
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            requests(&mut random, &bytes, &mut counts)?;
            answers(&mut random, &answer, &mut counts)
        }));
        let both = [&bytes[..], b" and answer ", &answer[..]].concat();
        ensure(checked.is_ok(), || "a panic".into(), &both)?;
        checked.unwrap_or(Ok(()))?;
    }
    let Counts { inputs, bytes, requests, refusals, answers, broken_answers } = counts;
    Ok(format!(
        "{{\"inputs\": {inputs}, \"bytes\": {bytes}, \"requests\": {requests}, \"refusals\": {refusals}, \
         \"answers\": {answers}, \"broken_answers\": {broken_answers}}}"
    ))
}

fn requests(random: &mut Random, bytes: &[u8], counts: &mut Counts) -> Checked<()> {
    for limits in &LIMITS {
        let whole = conversation(bytes, &[bytes.len()], limits, counts)?;
        for _ in 0..SPLITS {
            let ends = cuts(random, bytes.len());
            let pieces = conversation(bytes, &ends, limits, &mut Counts::default())?;
            ensure(pieces == whole, || format!("a split changes it: {whole:?}, {pieces:?}"), bytes)?;
        }
    }
    Ok(())
}

/// All requests and refusals, when the bytes come in pieces with these ends.
fn conversation(
    bytes: &[u8],
    ends: &[usize],
    limits: &RequestLimits,
    counts: &mut Counts,
) -> Checked<Vec<String>> {
    let (mut found, mut start, mut need) = (Vec::new(), 0_usize, 0);
    for &end in ends {
        while start < end {
            let buffer = &bytes[start..end];
            let step = parse(buffer, limits);
            let early = buffer.len() < need && !matches!(step, ParseStep::Need(_));
            ensure(!early, || format!("decided before {need} bytes were there: {step:?}"), bytes)?;
            match step {
                ParseStep::Need(more) => {
                    ensure(more > buffer.len(), || format!("asks for {more}, has {}", buffer.len()), bytes)?;
                    need = more;
                    break;
                }
                ParseStep::Done { request, used } => {
                    ensure((1..=buffer.len()).contains(&used), || format!("used {used}"), bytes)?;
                    same_again(&request, limits, bytes)?;
                    found.push(format!("{request:?}"));
                    counts.requests += 1;
                    start += used;
                }
                ParseStep::Forget { key, skip, silent } => {
                    ensure(skip > limits.value_bytes, || "forgets for nothing".into(), bytes)?;
                    found.push(format!("forget {} {silent}", key.escape_ascii()));
                    counts.refusals += 1;
                    start = start.saturating_add(skip);
                }
                ParseStep::Refuse { refusal, skip, silent, close } => {
                    ensure(skip > 0, || "refuses nothing".into(), bytes)?;
                    found.push(format!("{refusal:?} {silent} {close}"));
                    counts.refusals += 1;
                    if close {
                        return Ok(found);
                    }
                    start = start.saturating_add(skip);
                }
            }
            need = 0;
        }
    }
    Ok(found)
}

/// What is composed of a request is that request again.
fn same_again(request: &Request<'_>, limits: &RequestLimits, bytes: &[u8]) -> Checked<()> {
    let mut composed = Vec::new();
    request.compose(&mut composed);
    let again = parse(&composed, limits);
    let good = matches!(&again, ParseStep::Done { request: other, used } if other == request && *used == composed.len());
    ensure(
        good,
        || format!("{request:?} is composed as {} and parsed as {again:?}", composed.escape_ascii()),
        bytes,
    )
}

type Said = Result<Option<(Reply, usize)>, ReplyError>;

fn answers(random: &mut Random, bytes: &[u8], counts: &mut Counts) -> Checked<()> {
    for kind in [ReplyKind::Line, ReplyKind::Values, ReplyKind::Stats] {
        for most in ANSWER_BYTES {
            let whole = said(bytes, &[bytes.len()], kind, most);
            counts.answers += u64::from(matches!(whole, Ok(Some(_))));
            counts.broken_answers += u64::from(whole.is_err());
            if let Ok(Some((reply, length))) = whole {
                ensure(length <= bytes.len(), || format!("an answer of {length} bytes"), bytes)?;
                values(&bytes[..length], reply)?;
            }
            for _ in 0..SPLITS {
                let ends = cuts(random, bytes.len());
                let pieces = said(bytes, &ends, kind, most);
                let what = || format!("a split changes {kind:?} below {most}: {whole:?}, {pieces:?}");
                ensure(pieces == whole, what, bytes)?;
            }
        }
    }
    Ok(())
}

fn said(bytes: &[u8], ends: &[usize], kind: ReplyKind, most: usize) -> Said {
    let mut scan = ReplyScan::new(kind, most);
    for end in ends {
        let found = scan.scan(&bytes[..*end]);
        if found != Ok(None) {
            return found;
        }
    }
    Ok(None)
}

/// A whole answer has as many values as it says, and nothing but them and its end.
fn values(answer: &[u8], reply: Reply) -> Checked<()> {
    let Reply::Values(count) = reply else { return Ok(()) };
    let (found, length) = Values(answer).fold((0, 0), |(n, sum), (_, block)| (n + 1, sum + block.len()));
    let good = found == count && length + b"END\r\n".len() == answer.len();
    ensure(good, || format!("{count} values, {found} of {length} bytes can be read"), answer)
}

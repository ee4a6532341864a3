//! What several generators have counted, added up: counts of bins, never quantiles.

use std::collections::BTreeMap;
use std::io::LineWriter;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::{engine::general_purpose::STANDARD, Engine};
use hdrhistogram::serialization::interval_log::{IntervalLogHistogram, IntervalLogIterator, LogEntry, Tag};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use hdrhistogram::Histogram;
use serde::Serialize;
use sojourn_record::new_file;

use crate::error::LoadError;
use crate::latency_statistics::{LatencyCounts, LatencyStatistics, StreamingStatistics};
use crate::sink::{begin_log, empty_histogram};
use crate::summary::{LatencyByEndpoint, LatencySummary};

/// The parts of a summary that are not sums.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MergedLatency {
    pub latency: LatencySummary,
    pub lateness: LatencyStatistics,
    pub own_lateness: LatencyStatistics,
}

/// The statistics of all requests of several generators, from the counts in their summaries.
pub fn merged_latency(of_all: &[BTreeMap<String, LatencyCounts>]) -> MergedLatency {
    let statistics = |name: &str| {
        let mut merged = StreamingStatistics::new();
        of_all.iter().filter_map(|counts| counts.get(name)).for_each(|counts| merged.merge(counts));
        merged.statistics()
    };
    let both = |from: &str| LatencyByEndpoint {
        to_received: statistics(&format!("{from}_to_received")),
        to_done: statistics(&format!("{from}_to_done")),
    };
    MergedLatency {
        latency: LatencySummary { from_intended: both("intended"), from_sent: both("sent") },
        lateness: statistics("lateness"),
        own_lateness: statistics("own_lateness"),
    }
}

/// Adds `latency.hlog` of several generators, second by second from their common start, into the log `out`. No more than a second
/// of it is in memory, beside the logs as text.
///
/// # Errors
/// A log that cannot be read, or is none of ours; `out` cannot be written.
pub fn merge_interval_logs(logs: &[PathBuf], out: &Path) -> Result<(), LoadError> {
    let wrong = |path: &Path, cause: String| LoadError::Log { path: path.to_path_buf(), cause };
    let texts: Result<Vec<Vec<u8>>, LoadError> =
        logs.iter().map(|path| std::fs::read(path).map_err(|e| wrong(path, e.to_string()))).collect();
    let texts = texts?;
    let mut sources: Vec<_> = texts.iter().map(|text| intervals(text).peekable()).collect();
    let mut file = LineWriter::new(new_file(out).map_err(|e| wrong(out, e.to_string()))?);
    let (mut serializer, mut deserializer) = (V2DeflateSerializer::new(), Deserializer::new());
    let start_wall = texts.first().map_or(SystemTime::UNIX_EPOCH, |text| start_of(text));
    let mut log = begin_log(&mut file, &mut serializer, start_wall).map_err(|e| wrong(out, e.to_string()))?;
    while let Some(at) = sources.iter_mut().filter_map(next_start).min() {
        let mut merged: BTreeMap<Option<&str>, (Histogram<u64>, Duration)> = BTreeMap::new();
        for (source, path) in sources.iter_mut().zip(logs) {
            while next_start(source) == Some(at) {
                let Some(entry) = source.next() else { break };
                let entry = entry.map_err(|cause| wrong(path, cause))?;
                let found = decoded(&entry, &mut deserializer).map_err(|cause| wrong(path, cause))?;
                let empty = || empty_histogram().map(|histogram| (histogram, entry.duration()));
                let tag = entry.tag().map(|tag| tag.as_str());
                let sum = match merged.entry(tag) {
                    std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                    std::collections::btree_map::Entry::Vacant(new) => {
                        new.insert(empty().map_err(|cause| wrong(path, cause))?)
                    }
                };
                sum.0.add(found).map_err(|cause| wrong(path, cause.to_string()))?;
            }
        }
        for (tag, (histogram, length)) in &merged {
            let written = log.write_histogram(histogram, at, *length, tag.and_then(Tag::new));
            written.map_err(|e| wrong(out, e.to_string()))?;
        }
    }
    Ok(())
}

type Interval<'a> = Result<IntervalLogHistogram<'a>, String>;

fn intervals(text: &[u8]) -> impl Iterator<Item = Interval<'_>> {
    IntervalLogIterator::new(text).filter_map(|entry| match entry {
        Ok(LogEntry::Interval(interval)) => Some(Ok(interval)),
        Ok(_) => None,
        Err(_) => Some(Err("not an HdrHistogram log of version 1.3".to_string())),
    })
}

/// An interval that cannot be read comes first, so that it is told.
fn next_start<'a>(source: &mut Peekable<impl Iterator<Item = Interval<'a>>>) -> Option<Duration> {
    source.peek().map(|entry| entry.as_ref().map_or(Duration::ZERO, IntervalLogHistogram::start_timestamp))
}

fn start_of(text: &[u8]) -> SystemTime {
    let start = IntervalLogIterator::new(text).find_map(|entry| match entry {
        Ok(LogEntry::StartTime(since)) => Some(since),
        _ => None,
    });
    SystemTime::UNIX_EPOCH + start.unwrap_or_default()
}

fn decoded(entry: &IntervalLogHistogram, deserializer: &mut Deserializer) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(entry.encoded_histogram()).map_err(|e| e.to_string())?;
    deserializer.deserialize(&mut bytes.as_slice()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of one log: (second, values in ns) without a tag.
    fn write(path: &Path, seconds: &[(u64, &[u64])]) {
        let mut file = LineWriter::new(new_file(path).unwrap());
        let mut serializer = V2DeflateSerializer::new();
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
        let mut log = begin_log(&mut file, &mut serializer, start).unwrap();
        for (second, values) in seconds {
            let mut histogram = empty_histogram().unwrap();
            values.iter().for_each(|value| histogram.record(*value).unwrap());
            let (at, one) = (Duration::from_secs(*second), Duration::from_secs(1));
            log.write_histogram(&histogram, at, one, None).unwrap();
            log.write_histogram(&histogram, at, one, Tag::new("sent")).unwrap();
        }
    }

    #[test]
    fn seconds_are_added_and_one_that_only_some_have_stays() {
        let folder = std::env::temp_dir().join(format!("sojourn-merge-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name);
        write(&path("a"), &[(0, &[1000, 1000, 5_000_000]), (1, &[]), (2, &[7])]);
        write(&path("b"), &[(0, &[1000, 99_000_000]), (1, &[123_456])]);
        write(&path("whole"), &[(0, &[1000, 1000, 1000, 5_000_000, 99_000_000]), (1, &[123_456]), (2, &[7])]);
        merge_interval_logs(&[path("a"), path("b")], &path("merged")).unwrap();
        let text = |name: &str| std::fs::read_to_string(path(name)).unwrap();
        assert_eq!(text("merged"), text("whole"));
        std::fs::write(path("b"), "no log").unwrap();
        let error = merge_interval_logs(&[path("a"), path("b")], &path("merged")).unwrap_err().to_string();
        assert!(error.contains("not an HdrHistogram log"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}

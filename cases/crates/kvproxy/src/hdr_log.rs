//! The histograms of a whole run as a standard HdrHistogram interval log, in ns as the load's.

use std::fs::File;
use std::io::{Error, LineWriter};
use std::path::Path;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::Histogram;
use sojourn_record::{new_file, WriteError};
use sojourn_serving::time_histogram::UNIT_NS;

use crate::histograms::Histograms;
use crate::ServeError;

const HEADER: &str = "Times in ns over the whole run: untagged from received to answered, Tag=queue from received to sent to a \
                      server, Tag=service from sent to its (last) answer. The maximum (column 3) is in ms.";

/// Creates the file, before anything is served: a path that cannot be written is an error at the start.
pub(crate) fn create(path: &str) -> Result<File, ServeError> {
    new_file(Path::new(path)).map_err(|source| error(path, source))
}

fn error(path: &str, source: Error) -> ServeError {
    WriteError::Create { path: Path::new(path).to_path_buf(), source }.into()
}

/// What viewers show as the start; no time is computed from it.
#[expect(clippy::disallowed_methods, reason = "a date, where CLOCK_MONOTONIC says nothing")]
pub(crate) fn date() -> SystemTime {
    SystemTime::now()
}

/// Three histograms over the `lasted` since `begun`.
pub(crate) fn write(
    path: &str,
    file: File,
    histograms: &Histograms,
    begun: SystemTime,
    lasted: Duration,
) -> Result<(), ServeError> {
    let failed = |text: String| error(path, Error::other(text));
    let (mut file, mut serializer) = (LineWriter::new(file), V2DeflateSerializer::new());
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("[Histogram log format version 1.3]").add_comment(HEADER);
    builder.with_start_time(begun).with_max_value_divisor(1e6);
    let mut log = builder.begin_log_with(&mut file, &mut serializer).map_err(|e| error(path, e))?;
    for (units, tag) in [
        (&histograms.response, None),
        (&histograms.queue, Tag::new("queue")),
        (&histograms.service, Tag::new("service")),
    ] {
        let histogram = in_ns(units).map_err(failed)?;
        log.write_histogram(&histogram, Duration::ZERO, lasted, tag).map_err(|e| failed(e.to_string()))?;
    }
    Ok(())
}

/// The middle of each unit, to the same 3 digits.
fn in_ns(units: &Histogram<u64>) -> Result<Histogram<u64>, String> {
    let most = units.high() * UNIT_NS;
    let mut found = Histogram::new_with_bounds(1, most, units.sigfig()).map_err(|e| e.to_string())?;
    for bin in units.iter_recorded() {
        let ns = bin.value_iterated_to() * UNIT_NS + UNIT_NS / 2;
        found.saturating_record_n(ns, bin.count_at_value());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_serving::time_histogram::record;

    #[test]
    fn nothing_is_lost_on_the_way_to_ns() {
        let mut histograms = Histograms::new();
        for ns in [0, 40_000, 123_456, 7_000_000, 61_000_000_000_000] {
            record(&mut histograms.response, ns);
        }
        let found = in_ns(&histograms.response).expect("bounds are fine");
        assert_eq!(found.len(), 5);
        assert!((found.value_at_quantile(0.6) as f64 / 123_456.0 - 1.0).abs() < 2e-3);
    }
}

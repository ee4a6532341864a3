//! OpenMetrics 1.0 text. Writing to a string cannot fail.

use std::fmt::{Display, Write};

/// Metrics of one service: all names begin with its own.
#[derive(Debug)]
pub struct OpenMetricsText {
    service: &'static str,
    out: String,
}

impl OpenMetricsText {
    #[must_use]
    pub fn new(service: &'static str) -> Self {
        Self { service, out: String::new() }
    }

    fn family(&mut self, name: &str, kind: &str) {
        let _ = writeln!(self.out, "# TYPE {}_{name} {kind}", self.service);
    }

    pub fn counter(&mut self, name: &str, value: impl Display) {
        self.family(name, "counter");
        let _ = writeln!(self.out, "{}_{name}_total {value}", self.service);
    }

    pub fn gauge(&mut self, name: &str, value: impl Display) {
        self.family(name, "gauge");
        let _ = writeln!(self.out, "{}_{name} {value}", self.service);
    }

    /// A gauge for each value of `label`.
    pub fn gauges<L: Display, V: Display>(
        &mut self,
        name: &str,
        label: &str,
        values: impl IntoIterator<Item = (L, V)>,
    ) {
        self.family(name, "gauge");
        for (of, value) in values {
            let _ = writeln!(self.out, "{}_{name}{{{label}=\"{of}\"}} {value}", self.service);
        }
    }

    /// A counter for each value of `label`.
    pub fn counters<L: Display, V: Display>(
        &mut self,
        name: &str,
        label: &str,
        values: impl IntoIterator<Item = (L, V)>,
    ) {
        self.family(name, "counter");
        for (of, value) in values {
            let _ = writeln!(self.out, "{}_{name}_total{{{label}=\"{of}\"}} {value}", self.service);
        }
    }

    /// What follows are the members of this family of histograms.
    pub fn histograms(&mut self, name: &str) {
        self.family(name, "histogram");
    }

    /// One of them: `label` (name="value") tells it from the others. How many are at or below each end, how many in
    /// all, and their sum.
    pub fn histogram(
        &mut self,
        name: &str,
        label: Option<&str>,
        below: impl IntoIterator<Item = (f64, u64)>,
        count: u64,
        sum: f64,
    ) {
        let (service, out) = (self.service, &mut self.out);
        let first = label.map(|label| format!("{label},")).unwrap_or_default();
        let label = label.map(|label| format!("{{{label}}}")).unwrap_or_default();
        for (end, count) in below {
            let _ = writeln!(out, "{service}_{name}_bucket{{{first}le=\"{end}\"}} {count}");
        }
        let _ = writeln!(out, "{service}_{name}_bucket{{{first}le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "{service}_{name}_count{label} {count}");
        let _ = writeln!(out, "{service}_{name}_sum{label} {sum}");
    }

    /// The whole, with its end mark.
    #[must_use]
    pub fn end(mut self) -> String {
        self.out.push_str("# EOF\n");
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the examples of the OpenMetrics 1.0 text format: counters end in `_total`, `le` is the last label.
    #[test]
    fn families_have_a_type_and_an_end() {
        let mut text = OpenMetricsText::new("s");
        text.counter("seen", 2.5);
        text.gauge("length", 3);
        text.counters("done", "kind", [("get", 1), ("set", 2)]);
        text.histograms("t_seconds");
        text.histogram("t_seconds", None, [(0.1, 4), (1.0, 5)], 6, 7.5);
        text.histogram("t_seconds", Some("phase=\"wait\""), [(0.1, 0)], 0, 0.0);
        let lines = [
            "# TYPE s_seen counter",
            "s_seen_total 2.5",
            "# TYPE s_length gauge",
            "s_length 3",
            "# TYPE s_done counter",
            "s_done_total{kind=\"get\"} 1",
            "s_done_total{kind=\"set\"} 2",
            "# TYPE s_t_seconds histogram",
            "s_t_seconds_bucket{le=\"0.1\"} 4",
            "s_t_seconds_bucket{le=\"1\"} 5",
            "s_t_seconds_bucket{le=\"+Inf\"} 6",
            "s_t_seconds_count 6",
            "s_t_seconds_sum 7.5",
            "s_t_seconds_bucket{phase=\"wait\",le=\"0.1\"} 0",
            "s_t_seconds_bucket{phase=\"wait\",le=\"+Inf\"} 0",
            "s_t_seconds_count{phase=\"wait\"} 0",
            "s_t_seconds_sum{phase=\"wait\"} 0",
            "# EOF",
        ];
        assert_eq!(text.end().lines().collect::<Vec<_>>(), lines);
    }
}

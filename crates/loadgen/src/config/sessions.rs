//! What users in sessions do: the `sessions` object of the configuration.

use serde::{Deserialize, Serialize};

use crate::config_error::{check, ConfigError};

const PAGES_MAX: usize = 1000;
/// The last two columns of a row.
const BACK_AND_END: usize = 2;
/// How far from 1 the sum of a row may be.
const ROUNDING: f64 = 1e-9;

/// Users who go from page to page: each next page is drawn by the row of the page just read, and is a link that stands
/// on it. Page NAME has the path /NAME; a session begins with the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionsConfig {
    pub pages: Vec<String>,
    /// Kinds of users by their share.
    pub mixes: Vec<MixConfig>,
    /// From the start: users come one by one, and nothing counts.
    #[serde(default)]
    pub ramp_up_s: f64,
    /// Before the end: nothing counts.
    #[serde(default)]
    pub ramp_down_s: f64,
    /// Longest text that is put into a form.
    #[serde(default = "default_text_bytes")]
    pub text_bytes: u32,
}

/// How one kind of user goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixConfig {
    /// Of the users.
    pub share: f64,
    /// One row a page: the probability of each page, then that of going back, then that of the end of the session. A row
    /// of zeros is of a page that is never read.
    pub rows: Vec<Vec<f64>>,
}

fn default_text_bytes() -> u32 {
    1024
}

impl SessionsConfig {
    pub(super) fn validate(&self, duration_s: f64) -> Result<(), ConfigError> {
        let pages = self.pages.len();
        check((1..=PAGES_MAX).contains(&pages), "sessions.pages", pages, "give 1 to 1000 names")?;
        for name in &self.pages {
            let plain =
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
            check(
                plain,
                "sessions.pages",
                format!("{name:?}"),
                "use the characters A-Z a-z 0-9 - _ . for a name",
            )?;
        }
        for (what, value) in
            [("sessions.ramp_up_s", self.ramp_up_s), ("sessions.ramp_down_s", self.ramp_down_s)]
        {
            check(value >= 0.0 && value.is_finite(), what, value, "give seconds of at least 0")?;
        }
        let run_s = duration_s - self.ramp_up_s - self.ramp_down_s;
        check(
            run_s > 0.0,
            "sessions",
            format!("{run_s} s of run"),
            "give a longer duration or shorter ramps",
        )?;
        check(!self.mixes.is_empty(), "sessions.mixes", "none", "give at least one matrix")?;
        self.mixes.iter().enumerate().try_for_each(|(number, mix)| self.validate_mix(number, mix))
    }

    fn validate_mix(&self, number: usize, mix: &MixConfig) -> Result<(), ConfigError> {
        let place = format!("sessions.mixes[{number}]");
        let usable = mix.share > 0.0 && mix.share <= 1.0;
        check(usable, &format!("{place}.share"), mix.share, "give a share above 0, at most 1")?;
        let (rows, pages) = (mix.rows.len(), self.pages.len());
        check(rows == pages, &format!("{place}.rows"), format!("{rows} rows"), "give one for each page")?;
        for (row, name) in mix.rows.iter().zip(&self.pages) {
            let place = format!("{place}.rows, {name}");
            let length = row.len();
            check(
                length == pages + BACK_AND_END,
                &place,
                format!("{length} numbers"),
                "give one for each page, for back and for the end",
            )?;
            let usable = row.iter().all(|p| *p >= 0.0 && p.is_finite());
            check(usable, &place, format!("{row:?}"), "give probabilities of at least 0")?;
            let sum: f64 = row.iter().sum();
            let usable = (sum - 1.0).abs() < ROUNDING || sum == 0.0;
            check(usable, &place, format!("a sum of {sum}"), "give probabilities whose sum is 1, or zeros")?;
        }
        let sum: f64 = mix.rows[0].iter().sum();
        check(sum > 0.0, &format!("{place}.rows, {}", self.pages[0]), "zeros", "a session begins there")
    }
}

//! Users in sessions: which page comes next, by a transition matrix, and the link to it out of the page just read.
//!
//! - `transition_matrix` rows of probabilities; a draw
//! - `page_links` links of a page, and the text that a form wants
//! - `tally` what counts: the run between ramp-up and ramp-down

mod page_links;
mod tally;
mod transition_matrix;

use sojourn_dist::Stream;

use crate::config::SessionsConfig;
use crate::http::Response;
use crate::request_outcome::{Failure, RequestInFlight, SessionStep};
use page_links::{choose_link, write_text};
use transition_matrix::{Step, TransitionMatrix};

pub use tally::{SessionsSummary, SessionsTally};

/// A page somebody reads, and how to ask for it again.
#[derive(Debug, Clone)]
struct ReadPage {
    page: u16,
    target: Box<str>,
}

/// A user: the page that is read or asked for next, and those before it in this session.
#[derive(Debug)]
struct SessionUser {
    current: ReadPage,
    before: Vec<ReadPage>,
    steps: Stream,
    matrix: usize,
}

/// What one lane asks for.
pub struct RequestGenerator {
    pages: Vec<String>,
    matrices: Vec<TransitionMatrix>,
    users: Vec<SessionUser>,
    texts: Stream,
    text_bytes: usize,
}

/// One request on a connection; its answer is kept until it has been read for links.
#[derive(Debug)]
pub struct Exchange {
    /// The bytes of the request.
    pub out: Vec<u8>,
    /// What the user drew behind the page, once it is there and right.
    pub step: Option<SessionStep>,
}

impl Exchange {
    pub fn new() -> Exchange {
        Exchange { out: Vec::new(), step: None }
    }

    /// A response that keeps its page.
    pub fn response() -> Response {
        Response::keeping(&[])
    }
}

impl RequestGenerator {
    /// For the `users` of lane `lane`.
    pub fn new(config: &SessionsConfig, seed: u64, lane: usize, users: u32) -> RequestGenerator {
        let matrices = config.mixes.iter().map(|mix| TransitionMatrix::new(&mix.rows)).collect();
        let start = start(&config.pages);
        let users = (0..users).map(|user| SessionUser {
            current: start.clone(),
            before: Vec::new(),
            steps: Stream::new(seed, &format!("lane {lane} session {user}")),
            matrix: matrix_of(config, user),
        });
        RequestGenerator {
            users: users.collect(),
            pages: config.pages.clone(),
            matrices,
            texts: Stream::new(seed, &format!("lane {lane} texts")),
            text_bytes: config.text_bytes as usize,
        }
    }

    /// The page that this user asks for next.
    pub fn choose(&mut self, user: u32) -> u16 {
        self.users.get(user as usize).map_or(0, |user| user.current.page)
    }

    /// Writes the request into `exchange`; `head` is what stands behind each path.
    pub fn compose(&mut self, request: &RequestInFlight, head: &[u8], exchange: &mut Exchange) {
        let Some(user) = self.users.get(request.user as usize) else { return };
        let (out, target) = (&mut exchange.out, user.current.target.as_bytes());
        exchange.step = None;
        out.clear();
        out.extend_from_slice(b"GET ");
        out.extend_from_slice(target);
        if target.ends_with(b"=") {
            write_text(self.text_bytes, &mut self.texts, out);
        }
        out.extend_from_slice(head);
        out.extend_from_slice(b"\r\n");
    }

    /// Is this complete answer right? Where it is, the user goes on from it; else a session ends with it.
    pub fn judge(&mut self, exchange: &mut Exchange, response: &mut Response, user: u32) -> Failure {
        let Some(user) = self.users.get_mut(user as usize) else { return Failure::Wrong };
        // Given back at once: thousands of users would else keep a page each.
        let page = response.body.kept.replace(Vec::new()).unwrap_or_default();
        let failure = if (200..400).contains(&response.status) { Failure::Ok } else { Failure::Status };
        let step = self.matrices[user.matrix].next(user.current.page, &mut user.steps);
        let drawn = SessionStep { kind: user.matrix as u16, column: step.column(self.pages.len()) };
        let failure = match step {
            Step::To(next) if failure == Failure::Ok => {
                let name = &self.pages[usize::from(next)];
                if let Some(target) = choose_link(&page, name, &mut user.steps) {
                    let read = std::mem::replace(&mut user.current, ReadPage { page: next, target });
                    user.before.push(read);
                    Failure::Ok
                } else {
                    user.restart(&self.pages);
                    Failure::Wrong
                }
            }
            Step::Back if failure == Failure::Ok && !user.before.is_empty() => {
                user.current = user.before.pop().unwrap_or_else(|| start(&self.pages));
                Failure::Ok
            }
            _ => {
                user.restart(&self.pages);
                failure
            }
        };
        exchange.step = (failure == Failure::Ok).then_some(drawn);
        failure
    }

    /// The session of a user has ended without a complete answer.
    pub fn abandon(&mut self, user: u32) {
        if let Some(user) = self.users.get_mut(user as usize) {
            user.restart(&self.pages);
        }
    }
}

impl SessionUser {
    fn restart(&mut self, pages: &[String]) {
        self.current = start(pages);
        self.before = Vec::new();
    }
}

fn start(pages: &[String]) -> ReadPage {
    ReadPage { page: 0, target: format!("/{}", pages[0]).into() }
}

/// Kinds of users alternate, so that any run of them has its share of each: user k has the kind in whose share of the
/// unit interval the middle of its own place falls, the places being in the order of bit-reversed numbers.
fn matrix_of(config: &SessionsConfig, user: u32) -> usize {
    let total: f64 = config.mixes.iter().map(|mix| mix.share).sum();
    let place = (f64::from(user.reverse_bits()) + 0.5) / 4_294_967_296.0;
    let mut up_to = 0.0;
    let within = |mix: &crate::config::MixConfig| {
        up_to += mix.share / total;
        place < up_to
    };
    config.mixes.iter().position(within).unwrap_or(config.mixes.len() - 1)
}

#[cfg(test)]
mod tests;

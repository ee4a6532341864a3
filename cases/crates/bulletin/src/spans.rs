//! Spans of a request: the page, its wait for a worker, and each time that the tables are asked.

use sojourn_dist::Stream;
use sojourn_record::clock::now;
use sojourn_serving::{RequestTrace, Span, SpanKind, TraceFile};

use crate::board::{Answer, Board, Comment, Story, User};

/// Who is asked, as a span of the asking side names it.
pub(crate) const DATABASE: (&str, &str) = ("db.system.name", "postgresql");
pub(crate) const IN_MEMORY: (&str, &str) = ("peer.service", "tables");

/// When the tables were asked for what; nothing is noted of a request whose trace is not kept.
#[derive(Debug)]
pub(crate) struct AskedTables {
    kept: bool,
    called: (&'static str, &'static str),
    found: Vec<(String, u64, u64)>,
}

impl AskedTables {
    pub fn new(kept: bool, called: (&'static str, &'static str)) -> Self {
        Self { kept, called, found: Vec::new() }
    }

    /// Does it, and notes when.
    pub fn ask<T>(&mut self, name: &str, act: impl FnOnce() -> T) -> T {
        if !self.kept {
            return act();
        }
        let start = now();
        let done = act();
        self.found.push((name.to_owned(), start, now()));
        done
    }
}

/// Makes the traces of one worker; ids are drawn from a stream of its own.
pub(crate) struct Tracer<'a> {
    file: Option<&'a TraceFile>,
    stream: Stream,
}

/// When a request was received, taken by a worker, and answered, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub received: u64,
    pub taken: u64,
    pub answered: u64,
}

impl<'a> Tracer<'a> {
    /// `seed`: another one for each process, or their traces would have the same ids.
    pub fn new(file: Option<&'a TraceFile>, seed: u64, worker: usize) -> Self {
        Self { file, stream: Stream::new(seed, &format!("traces {worker}")) }
    }

    /// The id of a request's trace, if it is to be kept.
    pub fn begin(&mut self) -> Option<u128> {
        let file = self.file?;
        let id = (u128::from(self.stream.bits()) << 64 | u128::from(self.stream.bits())).max(1);
        file.keeps(id).then_some(id)
    }

    pub fn end(&mut self, id: Option<u128>, name: &str, times: Times, asked: AskedTables) {
        let (Some(id), Some(file)) = (id, self.file) else { return };
        let page = self.span_id();
        let mut span = |parent, name: String, kind, start, end, called| {
            let id = if parent == 0 { page } else { self.stream.bits().max(1) };
            Span { id, parent, name, kind, start, end, called }
        };
        let mut spans = vec![
            span(0, name.to_owned(), SpanKind::Server, times.received, times.answered, None),
            span(page, "wait for a worker".to_owned(), SpanKind::Internal, times.received, times.taken, None),
        ];
        let called = Some(asked.called);
        spans.extend(
            asked
                .found
                .into_iter()
                .map(|(name, start, end)| span(page, name, SpanKind::Client, start, end, called)),
        );
        file.offer(RequestTrace { id, spans });
    }

    fn span_id(&mut self) -> u64 {
        self.stream.bits().max(1)
    }
}

/// A board that notes when it is asked.
pub(crate) struct TracedBoard<'a, B> {
    pub board: B,
    pub asked: &'a mut AskedTables,
}

macro_rules! traced {
    ($($name:ident($($given:ident: $kind:ty),*) -> $found:ty;)*) => {
        impl<B: Board> Board for TracedBoard<'_, B> {
            $(fn $name(&mut self, $($given: $kind),*) -> Answer<$found> {
                self.asked.ask(stringify!($name), || self.board.$name($($given),*))
            })*
        }
    };
}

traced! {
    categories() -> Vec<(u32, String)>;
    newest_stories() -> Vec<(Story, String)>;
    stories_in_category(category: u32, page: u32) -> Vec<(Story, String)>;
    older_stories(before_s: i64) -> Vec<(Story, String)>;
    story(id: u32) -> Option<(Story, String)>;
    comment_ratings(story: u32) -> Vec<(i32, u32)>;
    comment(id: u32) -> Option<(Comment, String)>;
    replies(story: u32, parent: u32, least: i32) -> Vec<(Comment, String)>;
    search_stories(word: &str, page: u32) -> Vec<(Story, String)>;
    search_comments(word: &str, page: u32) -> Vec<(Comment, String)>;
    search_users(word: &str, page: u32) -> Vec<User>;
    submissions() -> Vec<(Story, String)>;
    login(nickname: &str, password: &str) -> Option<User>;
    register(nickname: &str, password: &str) -> Option<u32>;
    submit(story: &Story) -> bool;
    accept(submission: u32) -> Option<u32>;
    reject(submission: u32) -> bool;
    store_comment(comment: &Comment) -> Option<u32>;
    moderate(moderator: u32, comment: u32, by: i32, date_s: i64) -> bool;
}

//! Several requests that one worker serves at once: what goes to one server is sent together, then each is answered in turn.

use std::ops::Range;

use super::client::{QueuedRequest, Taken};
use super::worker::{error, Worker};
use crate::limits::{refusal, NO_SERVER};
use crate::reply_merger::ReplyMerger;
use crate::route::Target;
use sojourn_record::clock::now;

/// What one server is sent, and still owes, of a batch.
#[derive(Debug, Default)]
pub(super) struct ServerShare {
    bytes: Vec<u8>,
    due: usize,
    /// Why it answers nothing more.
    failed: Option<&'static str>,
}

/// Who is asked about a request, or what it is refused with.
type Asked = Result<Range<usize>, &'static [u8]>;

impl Worker<'_> {
    /// Sends them; then `answer` has each with what it was answered, in their order.
    pub(super) fn serve_together(
        &mut self,
        batch: Vec<Taken>,
        mut answer: impl FnMut(&mut Self, Taken, ReplyMerger),
    ) {
        let taken = now();
        let mut shares: Vec<ServerShare> = self.servers.iter().map(|_| ServerShare::default()).collect();
        let asked: Vec<Asked> = batch.iter().map(|(_, job)| self.asked(job, &mut shares)).collect();
        let start = now();
        for (server, share) in shares.iter_mut().enumerate().filter(|(_, share)| share.due > 0) {
            share.failed = self.write(server, &share.bytes).err();
        }
        for (request, asked) in batch.into_iter().zip(asked) {
            let gather = match asked {
                Ok(servers) => {
                    let gather = self.gather(servers, &request.1, start, &mut shares);
                    self.count_served(request.1.received, taken);
                    gather
                }
                Err(line) => error(line),
            };
            answer(self, request, gather);
        }
    }

    fn asked(&self, job: &QueuedRequest, shares: &mut [ServerShare]) -> Asked {
        let all = shares.len();
        if let Some(line) = refusal(job.route.target, self.health.ups(), all) {
            return Err(line);
        }
        let servers = match job.route.target {
            Target::Any => self.next().map(|server| server..server + 1).ok_or(NO_SERVER)?,
            _ => 0..all,
        };
        for server in servers.clone() {
            self.stats.servers[server].requests.add(1);
            shares[server].bytes.extend_from_slice(&job.bytes);
            shares[server].due += 1;
        }
        Ok(servers)
    }

    fn gather(
        &mut self,
        servers: Range<usize>,
        job: &QueuedRequest,
        start: u64,
        shares: &mut [ServerShare],
    ) -> ReplyMerger {
        let (mut gather, first) = (ReplyMerger::new(servers.len(), false), servers.start);
        for server in servers {
            let share = &mut shares[server];
            share.due -= 1;
            let heard = match share.failed {
                Some(why) => Err(why),
                None => self.hear(server, job.route.shape, start, &mut gather, server - first, share.due > 0),
            };
            if let Err(why) = heard {
                share.failed = Some(why);
                self.fail(server, why, &mut gather, server - first);
            }
        }
        gather
    }
}

//! A serving thread's part of `/wait`: the connection waits without a turn until the backend has served its request.

use sojourn_record::clock::{now, s};
use sojourn_serving::http::{self, Response};

use crate::backend_pool::ServedRequest;
use crate::connection::{Connection, ConnectionProgress};
use crate::request_log::RequestRow;
use crate::route::WAIT;
use crate::sys;
use crate::worker::Worker;

const BODY: &[u8] = b"<!doctype html><title>Served</title><h1>Served</h1>\n";

impl Worker<'_> {
    /// Answers those that the backend has served.
    pub(crate) fn answer_waiting(&mut self) {
        for one in self.mailbox.take_answers() {
            let (index, generation) = (one.request.token as u32, (one.request.token >> 32) as u32);
            let mut connections = self.mailbox.connections();
            if connections.same(index, generation).is_none() {
                continue; // it has gone
            }
            let taken = connections.take(index);
            drop(connections);
            let Some(mut connection) = taken else { continue };
            let progress = self.answer_one(&mut connection, &one);
            if progress == ConnectionProgress::Close {
                drop(connection);
                self.mailbox.connections().remove(index);
                continue;
            }
            self.mailbox.connections().give(index, connection);
            self.ready.push(index); // what came meanwhile
        }
    }

    fn answer_one(&mut self, connection: &mut Connection, one: &ServedRequest) -> ConnectionProgress {
        let Some(request) = connection.at_backend.take() else { return ConnectionProgress::Wait };
        let close = request.close || self.shared.shutdown.is_set();
        self.response.clear();
        let response =
            Response { status: 200, body: BODY, cookie: None, head_only: request.head_only, close };
        http::compose(&response, &mut self.response);
        if connection.respond(&self.response, request.length).is_err() {
            return ConnectionProgress::Close;
        }
        let end = now();
        connection.read_half.acted(end);
        connection.closing = close;
        let (end_s, drawn_s) = (s(end), one.service_s);
        let fixed_s = (end_s - request.start_s - drawn_s).max(0.0);
        self.statistics.add(WAIT, fixed_s, drawn_s, drawn_s);
        self.leave_row(RequestRow {
            received_s: connection.stamp_ns.map_or(f64::NAN, |ns| (ns - self.wall.ns) as f64 * 1e-9),
            start_s: request.start_s,
            end_s,
            drawn_s,
            work_s: drawn_s,
            fixed_s,
            thread: self.thread as u16,
            core: sys::current_core(),
            nic: connection.nic as u16,
            status: 200,
            bytes: self.response.len() as u32,
            page: WAIT,
        });
        connection.after_response(end)
    }
}

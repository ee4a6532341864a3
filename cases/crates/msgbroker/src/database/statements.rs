//! The SQL of every operation. No text of a client is ever part of it: all go as parameters.
//!
//! A statement finds the queue by its name itself, so that a queue that another service has dropped takes no message.
//! `q` is empty where there is no such queue, and then so is the answer; a row of NULLs is an empty queue.
//!
//! Rows are deleted by their place (`ctid`), which cannot change: they are locked, and no statement updates a message.
//! A join by key would leave it to the planner whether to walk through the whole table.

/// name → id, where it is new.
pub(crate) const CREATE: &str =
    "INSERT INTO sojourn.queue (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING id";

/// name → id. Its messages are out of reach at once; the maintenance deletes them.
pub(crate) const DROP: &str = "DELETE FROM sojourn.queue WHERE name = $1 RETURNING id";

/// name of the queue before, most → name, messages.
pub(crate) const LIST: &str = "
SELECT name, (SELECT count(*) FROM sojourn.message m WHERE m.queue = q.id) AS messages
FROM sojourn.queue q WHERE name > $1 ORDER BY name LIMIT $2";

/// name, sender, body → id.
pub const PUT: &str = "
INSERT INTO sojourn.message (queue, sender, body)
SELECT id, $2, $3 FROM sojourn.queue WHERE name = $1 RETURNING id";

/// The oldest message of a queue that nobody else is at, out of it; `whose` narrows to a sender.
macro_rules! oldest {
    ($whose:literal, $columns:literal) => {
        concat! { "
WITH q AS MATERIALIZED (SELECT id FROM sojourn.queue WHERE name = $1),
m AS (
    DELETE FROM sojourn.message WHERE ctid = (
        SELECT ctid FROM sojourn.message WHERE queue = (SELECT id FROM q)", $whose, "
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ", $columns, ")" }
    };
}

/// As `oldest`, for each queue as many as there are takers.
macro_rules! oldest_of_each {
    () => {
        "
WITH w AS MATERIALIZED (
    SELECT u.n, q.id AS queue, u.most
    FROM unnest($1::text[], $2::int8[]) WITH ORDINALITY AS u (name, most, n)
    JOIN sojourn.queue q ON q.name = u.name),
m AS (
    DELETE FROM sojourn.message WHERE ctid = ANY (ARRAY(
        SELECT x.ctid FROM w CROSS JOIN LATERAL (
            SELECT ctid FROM sojourn.message WHERE queue = w.queue
            ORDER BY id LIMIT w.most FOR UPDATE SKIP LOCKED) x))
    RETURNING queue, id, sender, body)"
    };
}

/// What came out (`m`) into the table of what may come back, after `time` s.
macro_rules! lent {
    ($time:literal, $columns:literal) => {
        concat! { ",
t AS (
    INSERT INTO sojourn.taken (queue, id, until, sender, body)
    SELECT queue, id, clock_timestamp() + ", $time, " * interval '1 second', sender, body FROM m
    RETURNING ", $columns, ", receipt)" }
    };
}

macro_rules! take {
    ($whose:literal) => {
        concat! { oldest!($whose, "id, sender, body"), "
SELECT m.id, m.sender, m.body FROM q LEFT JOIN m ON true" }
    };
}

macro_rules! lend {
    ($whose:literal) => {
        concat! { oldest!($whose, "queue, id, sender, body"), lent!("$2", "id, sender, body"), "
SELECT t.id, t.sender, t.body, t.receipt FROM q LEFT JOIN t ON true" }
    };
}

macro_rules! peek {
    ($whose:literal) => {
        concat! { "
SELECT m.id, m.sender, m.body FROM sojourn.queue q LEFT JOIN LATERAL (
    SELECT id, sender, body FROM sojourn.message WHERE queue = q.id", $whose, " ORDER BY id LIMIT 1) m ON true
WHERE q.name = $1" }
    };
}

/// name → id, sender, body.
pub const TAKE: &str = take!("");

/// name, sender → id, sender, body.
pub(crate) const TAKE_FROM: &str = take!(" AND sender = $2");

/// name, time s → id, sender, body, receipt.
pub(crate) const LEND: &str = lend!("");

/// name, time s, sender → id, sender, body, receipt.
pub(crate) const LEND_FROM: &str = lend!(" AND sender = $3");

/// name → id, sender, body.
pub(crate) const PEEK: &str = peek!("");

/// name, sender → id, sender, body.
pub(crate) const PEEK_FROM: &str = peek!(" AND sender = $2");

/// name, id, receipt → whether there is such a queue, whether there was such a message.
pub(crate) const ACKNOWLEDGE: &str = "
WITH q AS MATERIALIZED (SELECT id FROM sojourn.queue WHERE name = $1),
t AS (
    DELETE FROM sojourn.taken WHERE queue = (SELECT id FROM q) AND id = $2 AND receipt = $3
    RETURNING id)
SELECT t.id FROM q LEFT JOIN t ON true";

/// names, senders, bodies → place in these arrays, id; without those that have no queue.
pub const PUT_MANY: &str = "
WITH p AS MATERIALIZED (
    SELECT u.n, q.id AS queue, nextval('sojourn.message_id') AS id, u.sender, u.body
    FROM unnest($1::text[], $2::text[], $3::bytea[]) WITH ORDINALITY AS u (name, sender, body, n)
    JOIN sojourn.queue q ON q.name = u.name),
i AS (INSERT INTO sojourn.message (queue, id, sender, body) SELECT queue, id, sender, body FROM p)
SELECT n, id FROM p";

/// names, numbers of takers → place in these arrays, id, sender, body; one row of NULLs for an empty queue.
pub const TAKE_MANY: &str = concat! { oldest_of_each!(), "
SELECT w.n, m.id, m.sender, m.body FROM w LEFT JOIN m ON m.queue = w.queue ORDER BY w.n, m.id" };

/// names, numbers of takers, time s → place in these arrays, id, sender, body, receipt.
pub(crate) const LEND_MANY: &str = concat! { oldest_of_each!(), lent!("$3", "queue, id, sender, body"), "
SELECT w.n, t.id, t.sender, t.body, t.receipt FROM w LEFT JOIN t ON t.queue = w.queue ORDER BY w.n, t.id" };

/// → the database's clock, us since 1970, and the last receipt that was given out.
pub(crate) const CLOCK: &str = "
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8,
    (SELECT last_value FROM sojourn.taken_receipt_seq)";

/// receipt → the latest time, us since 1970, until which a message with that or an earlier one is lent.
pub(crate) const LATEST: &str =
    "SELECT (extract(epoch FROM max(until)) * 1000000)::int8 FROM sojourn.taken WHERE receipt <= $1";

/// new, old (us since 1970), receipt → gives back up to 1000 messages that were lent until `new`, with that receipt or an
/// earlier one until `old`; a row for each.
pub(crate) const RETURN_OVERDUE: &str = "
WITH b AS (
    DELETE FROM sojourn.taken WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM sojourn.taken
        WHERE until <= to_timestamp(greatest($1::int8, $2::int8) / 1000000.0::float8)
            AND until <= to_timestamp(CASE WHEN receipt <= $3::int8 THEN $2 ELSE $1 END / 1000000.0::float8)
        ORDER BY until LIMIT 1000 FOR UPDATE SKIP LOCKED))
    RETURNING queue, id, sender, body)
INSERT INTO sojourn.message (queue, id, sender, body)
SELECT queue, id, sender, body FROM b WHERE EXISTS (SELECT FROM sojourn.queue q WHERE q.id = b.queue)
RETURNING 1";

/// Queues that have messages and are no more; jumps from queue to queue in the index.
pub(crate) const ORPHANS: &str = "
WITH RECURSIVE s AS (
    (SELECT queue FROM sojourn.message ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT (SELECT queue FROM sojourn.message WHERE queue > s.queue ORDER BY queue LIMIT 1)
    FROM s WHERE s.queue IS NOT NULL)
SELECT queue FROM s
WHERE queue IS NOT NULL AND NOT EXISTS (SELECT FROM sojourn.queue q WHERE q.id = s.queue)";

/// queue's id → deletes up to 10 000 of its messages, a row for each.
pub(crate) const DELETE_SOME: &str = "
DELETE FROM sojourn.message WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM sojourn.message WHERE queue = $1 ORDER BY id LIMIT 10000 FOR UPDATE SKIP LOCKED)) RETURNING 1";

/// Another service that does the same is not waited for.
pub(crate) const VACUUM: &str =
    "VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, TRUNCATE OFF) sojourn.message, sojourn.taken";

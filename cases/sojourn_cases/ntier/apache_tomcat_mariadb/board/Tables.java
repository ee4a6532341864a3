package board;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/**
 * What one request asks of the tables in MariaDB. It takes a session of the pool at its first statement, and keeps it until it is closed.
 * Lists are pages of 20 rows, newest first.
 */
final class Tables implements AutoCloseable {
    static final int PAGE_ROWS = 20;
    private static final long LATEST_S = Integer.MAX_VALUE; // the last time that FROM_UNIXTIME knows

    /** A story, or a submission that waits to become one; its body is empty where a list has none. */
    record Story(int id, String title, String body, long dateS, int category, String writer) {}

    /** A comment on a story, or on the comment {@code parent} (0: on the story). */
    record Comment(int id, int story, int children, int rating, long dateS, String subject, String body, String writer) {}

    /** Somebody who may write. */
    record User(int id, String nickname, int rating, boolean isAuthor) {}

    /** How many comments of a rating there are. */
    record Rated(int rating, long count) {}

    private interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    private final DataSource source;
    private final Map<String, String> statements;
    private Connection session;
    private int executed;

    Tables(DataSource source, Map<String, String> statements) {
        this.source = source;
        this.statements = statements;
    }

    /** Statements that were executed. */
    int executed() {
        return executed;
    }

    @Override
    public void close() throws SQLException {
        if (session != null) {
            session.close();
        }
    }

    private PreparedStatement prepared(String name, Object... values) throws SQLException {
        if (session == null) {
            session = source.getConnection();
        }
        PreparedStatement statement = session.prepareStatement(statements.get(name));
        for (int at = 0; at < values.length; at++) {
            statement.setObject(at + 1, values[at]);
        }
        executed++;
        return statement;
    }

    private <T> List<T> rows(String name, RowReader<T> reader, Object... values) throws SQLException {
        List<T> found = new ArrayList<>(PAGE_ROWS);
        try (PreparedStatement statement = prepared(name, values); ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.add(reader.read(rows));
            }
        }
        return found;
    }

    private <T> T first(String name, RowReader<T> reader, Object... values) throws SQLException {
        List<T> found = rows(name, reader, values);
        return found.isEmpty() ? null : found.get(0);
    }

    /** Of the recent ones, or where there is nothing, of the old ones. */
    private <T> List<T> recentOrOld(String name, RowReader<T> reader, Object... values) throws SQLException {
        List<T> found = rows(name, reader, values);
        return found.isEmpty() ? rows("old_" + name, reader, values) : found;
    }

    /** How many rows a statement changed. */
    private int changed(String name, Object... values) throws SQLException {
        try (PreparedStatement statement = prepared(name, values)) {
            return statement.executeUpdate();
        }
    }

    private interface Work<T> {
        T done() throws SQLException;
    }

    /** In one transaction, which is undone where there is no result. */
    private <T> T transaction(Work<T> work) throws SQLException {
        if (session == null) {
            session = source.getConnection();
        }
        session.setAutoCommit(false);
        T result = null;
        try {
            result = work.done();
            return result;
        } finally {
            if (result == null) {
                session.rollback();
            } else {
                session.commit();
            }
            session.setAutoCommit(true);
        }
    }

    private static Story headline(ResultSet row) throws SQLException {
        return new Story(row.getInt(1), row.getString(2), "", row.getLong(3), 0, row.getString(4));
    }

    /** id, story, children, rating, date, subject, text, nickname. */
    private static Comment comment(ResultSet row) throws SQLException {
        return new Comment(
                row.getInt(1), row.getInt(2), row.getInt(3), row.getInt(4), row.getLong(5), row.getString(6), row.getString(7),
                row.getString(8));
    }

    private static Integer id(ResultSet row) throws SQLException {
        return row.getInt(1);
    }

    private static Object[] searched(String word, int page) {
        String behind = word + new String(Character.toChars(Character.MAX_CODE_POINT)); // the first text behind all that begin so
        return new Object[] {word, behind, PAGE_ROWS, page * PAGE_ROWS};
    }

    List<Story> categories() throws SQLException {
        return rows("categories", row -> new Story(row.getInt(1), row.getString(2), "", 0, 0, ""));
    }

    List<Story> newestStories() throws SQLException {
        return rows(
                "recent_stories",
                row -> new Story(row.getInt(1), row.getString(2), row.getString(3), row.getLong(4), 0, row.getString(5)),
                PAGE_ROWS);
    }

    List<Story> storiesInCategory(int category, int page) throws SQLException {
        return rows("stories_in_category", Tables::headline, category, PAGE_ROWS, page * PAGE_ROWS);
    }

    List<Story> olderStories(long beforeS) throws SQLException {
        return rows("older_stories", Tables::headline, Math.max(0, Math.min(beforeS, LATEST_S)), PAGE_ROWS);
    }

    Story story(int wanted) throws SQLException {
        List<Story> found = recentOrOld(
                "story",
                row -> new Story(
                        row.getInt(1), row.getString(2), row.getString(3), row.getLong(4), row.getInt(5), row.getString(6)),
                wanted);
        return found.isEmpty() ? null : found.get(0);
    }

    List<Rated> commentRatings(int story) throws SQLException {
        return recentOrOld("ratings_of_story", row -> new Rated(row.getInt(1), row.getLong(2)), story);
    }

    /** 0: the newest. */
    Comment comment(int wanted) throws SQLException {
        if (wanted == 0) {
            return first("newest_comment", Tables::comment);
        }
        List<Comment> found = recentOrOld("comment", Tables::comment, wanted);
        return found.isEmpty() ? null : found.get(0);
    }

    List<Comment> answers(int story, int parent, int least) throws SQLException {
        return recentOrOld("answers", Tables::comment, story, parent, least);
    }

    List<Story> searchStories(String word, int page) throws SQLException {
        return rows("search_stories", Tables::headline, searched(word, page));
    }

    List<Comment> searchComments(String word, int page) throws SQLException {
        return rows(
                "search_comments",
                row -> new Comment(row.getInt(1), row.getInt(2), 0, 0, row.getLong(4), row.getString(3), "", row.getString(5)),
                searched(word, page));
    }

    List<User> searchUsers(String word, int page) throws SQLException {
        return rows(
                "search_users", row -> new User(row.getInt(1), row.getString(2), row.getInt(3), false), searched(word, page));
    }

    List<Story> submissions() throws SQLException {
        return rows("submissions", Tables::headline, PAGE_ROWS);
    }

    User login(String nickname, String password) throws SQLException {
        return first(
                "user_by_name",
                row -> password.equals(row.getString(2))
                        ? new User(row.getInt(1), nickname, row.getInt(4), row.getInt(3) == 1)
                        : null,
                nickname);
    }

    /** The number of the new user; null where the nickname is taken. */
    Integer register(String nickname, String password) throws SQLException {
        return first("register_user", Tables::id, nickname, password);
    }

    /** Its number; null where its category is not there. */
    Integer submit(String title, String body, int writer, int category) throws SQLException {
        return first("store_submission", Tables::id, title, body, writer, category, category);
    }

    /** Makes a submission a story; its number, or null where it is not there, or somebody else was faster. */
    Integer accept(int submission) throws SQLException {
        return transaction(() -> {
            Object[] taken = first(
                    "take_submission",
                    row -> new Object[] {
                        row.getString(1), row.getString(2), row.getString(3), row.getInt(4), row.getInt(5)
                    },
                    submission);
            return taken == null ? null : first("store_story", Tables::id, taken);
        });
    }

    boolean reject(int submission) throws SQLException {
        return changed("reject_submission", submission) > 0;
    }

    /** Its number; null where its story is not there, or its parent is none of that story's comments. */
    Integer storeComment(int writer, int story, int parent, String subject, String body) throws SQLException {
        for (String age : new String[] {"", "old_"}) {
            Integer made = transaction(() -> {
                if (parent != 0 && changed(age + "count_answer", parent, story) == 0) {
                    return null;
                }
                return first(age + "store_comment", Tables::id, writer, story, parent, subject, body, story);
            });
            if (made != null) {
                return made;
            }
        }
        return null;
    }

    /** Adds {@code by} to the ratings of a comment and of its writer, and writes it down; whether the comment is there. */
    boolean moderate(int moderator, int comment, int by) throws SQLException {
        for (String age : new String[] {"", "old_"}) {
            Boolean done = transaction(() -> {
                if (changed(age + "rate_comment", by, comment) == 0) {
                    return null;
                }
                Integer writer = first(age + "writer_of_comment", Tables::id, comment);
                changed("rate_user", by, writer);
                changed("log_moderation", moderator, comment, by);
                return true;
            });
            if (done != null) {
                return true;
            }
        }
        return false;
    }
}

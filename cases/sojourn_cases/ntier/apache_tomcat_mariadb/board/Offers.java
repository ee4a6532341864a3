package board;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** What pages offer that stands in no answer of the tables: rows that were there when the service began, drawn at random. */
final class Offers {
    /** When the newest story was written: 2026-01-01, 00:00 UTC. */
    static final long NEWEST_S = 1_767_225_600;
    static final long DAY_S = 86_400;

    final int users;
    final int authors;
    final int categories;
    final int stories;
    final int days;
    private final String[] words; // that titles and subjects begin with
    private final double[] cumulative; // probability of a word or one before it, by Zipf's law with exponent 1
    private final ThreadLocal<SplittableRandom> stream;

    /** Reads the tables; {@code seed}: of what is drawn. */
    Offers(DataSource source, long seed) throws SQLException {
        try (Connection session = source.getConnection(); Statement statement = session.createStatement()) {
            users = number(statement, "SELECT COUNT(*) FROM users WHERE nickname LIKE 'user%'");
            authors = number(statement, "SELECT COUNT(*) FROM users WHERE access = 1");
            categories = number(statement, "SELECT COUNT(*) FROM categories");
            stories = number(statement, "SELECT MAX(id) FROM stories");
            int first = number(statement, "SELECT FLOOR(UNIX_TIMESTAMP(MIN(date))) FROM old_stories");
            days = (int) Math.max(1, (NEWEST_S - first) / DAY_S);
            List<String> found = new ArrayList<>();
            String titles = "SELECT DISTINCT SUBSTRING_INDEX(title, ' ', 1) FROM (SELECT title FROM stories LIMIT 20000) AS t";
            try (ResultSet rows = statement.executeQuery(titles)) {
                while (rows.next()) {
                    found.add(rows.getString(1));
                }
            }
            words = found.toArray(new String[0]);
        }
        if (users == 0 || authors == 0 || categories == 0 || stories == 0 || words.length == 0) {
            throw new SQLException("its tables are empty; load them first");
        }
        Arrays.sort(words);
        cumulative = new double[words.length];
        double sum = 0;
        for (int rank = 0; rank < words.length; rank++) {
            sum += 1.0 / (rank + 1);
            cumulative[rank] = sum;
        }
        for (int rank = 0; rank < words.length; rank++) {
            cumulative[rank] /= sum;
        }
        AtomicLong threads = new AtomicLong(seed);
        stream = ThreadLocal.withInitial(() -> new SplittableRandom(threads.getAndIncrement()));
    }

    private static int number(Statement statement, String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getInt(1);
        }
    }

    /** 1 to {@code most}. */
    int upTo(int most) {
        return 1 + stream.get().nextInt(most);
    }

    String bits() {
        return Long.toHexString(stream.get().nextLong());
    }

    String word() {
        int at = Arrays.binarySearch(cumulative, stream.get().nextDouble());
        return words[Math.min(at < 0 ? -at - 1 : at, words.length - 1)];
    }

    /** From {@code least} to {@code most} words, as a URL has them. */
    String words(int least, int most) {
        StringBuilder text = new StringBuilder(word());
        int further = least - 1 + stream.get().nextInt(most - least + 1);
        for (int count = 0; count < further; count++) {
            text.append('+').append(word());
        }
        return text.toString();
    }

    /** The nickname and password of a user by chance, as a browser fills them in. */
    String user() {
        return credentials(upTo(users));
    }

    String author() {
        return credentials(upTo(authors));
    }

    private static String credentials(int user) {
        return "nickname=user" + user + "&password=password" + user;
    }
}

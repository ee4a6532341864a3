package board;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;

/** What users and authors do: log in, register, store, rate, accept and reject. Each says whether what was asked for is there. */
final class UserActions {
    private static final int MOST_BYTES = 1024; // of a text that is stored
    private static final int MOST_CHARACTERS = 760; // of a title: what an index holds

    private final Tables tables;
    private final Asked asked;
    private final Html page;

    UserActions(Tables tables, Asked asked, Html page) {
        this.tables = tables;
        this.asked = asked;
        this.page = page;
    }

    /** Who sent the request; a line on the page where nobody known did. */
    private Tables.User loggedIn() throws SQLException {
        Tables.User user = tables.login(asked.text("nickname"), asked.text("password"));
        if (user == null) {
            page.paragraph("nickname or password is wrong");
        }
        return user;
    }

    boolean register() throws SQLException {
        String name = asked.text("nickname");
        Integer id = name.isEmpty() ? null : tables.register(name, asked.text("password"));
        page.paragraph(id == null ? "choose another nickname" : "user " + id);
        return true;
    }

    boolean storeComment() throws SQLException {
        Tables.User user = loggedIn();
        if (user == null) {
            return true;
        }
        int story = asked.number("storyId");
        int parent = asked.text("parent").isEmpty() ? 0 : asked.number("parent", -1);
        if (parent < 0) {
            return page.missing("comment", asked.text("parent"));
        }
        Integer id = tables.storeComment(user.id(), story, parent, title(asked.text("subject")), cut(asked.text("body")));
        if (id == null) {
            return parent == 0 ? page.missing("story", story) : page.missing("story " + story + " with a comment", parent);
        }
        page.paragraph("comment " + id);
        return true;
    }

    boolean storeStory() throws SQLException {
        Tables.User user = loggedIn();
        if (user == null) {
            return true;
        }
        int category = asked.number("category");
        if (tables.submit(title(asked.text("title")), cut(asked.text("body")), user.id(), category) == null) {
            return page.missing("category", asked.text("category"));
        }
        page.paragraph("an author will look at it");
        return true;
    }

    boolean storeModeration() throws SQLException {
        Tables.User user = loggedIn();
        if (user == null) {
            return true;
        }
        int rating = asked.number("rating", 2);
        if (rating < -1 || rating > 1) {
            return page.missing("rating", asked.text("rating"));
        }
        if (!user.isAuthor()) {
            page.paragraph("only authors rate comments");
            return true;
        }
        int comment = asked.number("commentId");
        if (!tables.moderate(user.id(), comment, rating)) {
            return page.missing("comment", comment);
        }
        page.paragraph("rated");
        return true;
    }

    boolean authorTask() throws SQLException {
        Tables.User user = loggedIn();
        if (user != null) {
            page.paragraph(user.isAuthor() ? "welcome" : "no author");
        }
        page.link("ReviewStories", "", "review stories");
        return true;
    }

    boolean acceptStory() throws SQLException {
        Integer id = tables.accept(asked.number("submissionId"));
        page.paragraph(id == null ? "nothing to accept" : "story " + id);
        return true;
    }

    boolean rejectStory() throws SQLException {
        page.paragraph(tables.reject(asked.number("submissionId")) ? "rejected" : "nothing to reject");
        return true;
    }

    private static String title(String text) {
        String cut = cut(text);
        return cut.codePointCount(0, cut.length()) <= MOST_CHARACTERS
                ? cut
                : cut.substring(0, cut.offsetByCodePoints(0, MOST_CHARACTERS));
    }

    /** The longest start that the tables hold. */
    private static String cut(String text) {
        int end = Math.min(text.length(), MOST_BYTES);
        while (text.substring(0, end).getBytes(StandardCharsets.UTF_8).length > MOST_BYTES
                || (end > 0 && end < text.length() && Character.isHighSurrogate(text.charAt(end - 1)))) {
            end--;
        }
        return text.substring(0, end);
    }
}

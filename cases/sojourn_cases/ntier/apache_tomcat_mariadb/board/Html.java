package board;

import java.time.LocalDate;

/** A page that grows: a frame with links to what can be reached from anywhere, and what the page adds to it. */
final class Html {
    private static final String[] NAVIGATION = {
        "StoriesOfTheDay", "Browse", "Search", "Register", "SubmitStory", "AuthorLogin"
    };
    private static final long DAY_S = 86_400;

    private final StringBuilder text = new StringBuilder(16 * 1024);

    Html(String title) {
        text.append("<!doctype html><html><head><title>").append(title).append("</title></head><body>\n<p>");
        for (String name : NAVIGATION) {
            text.append("<a href=\"/").append(name).append("\">").append(name).append("</a> ");
        }
        text.append("</p>\n<h1>").append(title).append("</h1>\n");
    }

    String end() {
        return text.append("</body></html>\n").toString();
    }

    /** A link to an interaction with its parameters, which need no escaping. */
    void link(String interaction, String parameters, String words) {
        text.append("<a href=\"/").append(interaction).append('?').append(parameters).append("\">");
        escaped(words);
        text.append("</a>\n");
    }

    /** What a form would send: the reader adds a text to the last parameter. */
    void form(String interaction, String parameters, String last) {
        text.append("<p><a href=\"/").append(interaction).append('?').append(parameters).append('&').append(last);
        text.append("=\">").append(interaction).append("</a></p>\n");
    }

    void paragraph(String words) {
        text.append("<p>");
        escaped(words);
        text.append("</p>\n");
    }

    /** A line that something is not there: false. */
    boolean missing(String what, Object id) {
        paragraph("no " + what + " " + id);
        return false;
    }

    void story(Tables.Story story) {
        link("ViewStory", "storyId=" + story.id(), story.title());
        text.append("<i>").append(date(story.dateS())).append(" by ");
        escaped(story.writer());
        text.append("</i>\n");
        if (!story.body().isEmpty()) {
            paragraph(story.body());
        }
    }

    void comment(Tables.Comment comment) {
        link("ViewComment", "storyId=" + comment.story() + "&commentId=" + comment.id(), comment.subject());
        text.append("<i>").append(date(comment.dateS())).append(", rated ").append(comment.rating()).append(", ");
        text.append(comment.children()).append(" replies, by ");
        escaped(comment.writer());
        text.append("</i>\n");
        paragraph(comment.body());
        link("PostComment", "storyId=" + comment.story() + "&parent=" + comment.id(), "reply");
        link("ModerateComment", "commentId=" + comment.id(), "moderate");
    }

    /** The day of a Unix time, as ISO 8601 has it. */
    static String date(long unixS) {
        return LocalDate.ofEpochDay(Math.floorDiv(unixS, DAY_S)).toString();
    }

    private void escaped(String words) {
        for (int at = 0; at < words.length(); at++) {
            char character = words.charAt(at);
            switch (character) {
                case '<' -> text.append("&lt;");
                case '>' -> text.append("&gt;");
                case '&' -> text.append("&amp;");
                case '"' -> text.append("&quot;");
                default -> text.append(character);
            }
        }
    }
}

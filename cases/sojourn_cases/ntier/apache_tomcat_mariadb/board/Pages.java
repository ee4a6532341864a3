package board;

import java.sql.SQLException;
import java.util.List;

/**
 * What each interaction asks of the tables, and the page that it makes of the answer; {@link UserActions} has those that log in or change
 * something. Every page has a link for each interaction that a transition matrix of RUBBoS has behind it, whatever is in the tables; where
 * there is nothing to point to, the number 0 stands for the newest.
 */
final class Pages {
    static final List<String> INTERACTIONS = List.of(
            "StoriesOfTheDay", "Register", "RegisterUser", "Browse", "BrowseCategories", "BrowseStoriesInCategory", "OlderStories",
            "ViewStory", "PostComment", "StoreComment", "ViewComment", "ModerateComment", "StoreModerateLog", "SubmitStory",
            "StoreStory", "Search", "SearchInStories", "SearchInComments", "SearchInUsers", "AuthorLogin", "AuthorTask",
            "ReviewStories", "AcceptStory", "RejectStory");
    private static final int OFFERED = 10; // search words and days on a page

    private final Offers offers;
    private final Tables tables;
    private final Asked asked;
    private final Html page;
    private final UserActions actions;

    private Pages(Offers offers, Tables tables, Asked asked) {
        this.offers = offers;
        this.tables = tables;
        this.asked = asked;
        this.page = new Html(asked.interaction);
        this.actions = new UserActions(tables, asked, page);
    }

    /** A page, and its status. */
    record Page(int status, String text) {}

    static Page made(Offers offers, Tables tables, Asked asked) throws SQLException {
        Pages pages = new Pages(offers, tables, asked);
        boolean found = pages.fill();
        return new Page(found ? 200 : 404, pages.page.end());
    }

    /** Whether what was asked for is there. */
    private boolean fill() throws SQLException {
        return switch (asked.interaction) {
            case "StoriesOfTheDay" -> stories(tables.newestStories());
            case "Register" -> register();
            case "RegisterUser" -> actions.register();
            case "Browse" -> browse();
            case "BrowseCategories" -> categories();
            case "BrowseStoriesInCategory" -> category();
            case "OlderStories" -> older();
            case "ViewStory" -> viewStory();
            case "PostComment" -> postComment();
            case "StoreComment" -> actions.storeComment();
            case "ViewComment" -> viewComment();
            case "ModerateComment" -> moderate();
            case "StoreModerateLog" -> actions.storeModeration();
            case "SubmitStory" -> submit();
            case "StoreStory" -> actions.storeStory();
            case "Search" -> search();
            case "SearchInStories" -> searchStories();
            case "SearchInComments" -> searchComments();
            case "SearchInUsers" -> searchUsers();
            case "AuthorLogin" -> authorLogin();
            case "AuthorTask" -> actions.authorTask();
            case "ReviewStories" -> review();
            case "AcceptStory" -> actions.acceptStory();
            default -> actions.rejectStory();
        };
    }

    /** A list of stories; where it is empty, a story by chance. */
    private boolean stories(List<Tables.Story> stories) {
        stories.forEach(page::story);
        if (stories.isEmpty()) {
            page.link("ViewStory", "storyId=" + offers.upTo(offers.stories), "another story");
        }
        return true;
    }

    private boolean register() {
        String name = offers.bits();
        page.link("RegisterUser", "nickname=new" + name + "&password=secret" + name, "register");
        return true;
    }

    private boolean browse() {
        page.link("BrowseCategories", "", "categories");
        days();
        return true;
    }

    private void days() {
        for (int count = 0; count < OFFERED; count++) {
            long beforeS = Offers.NEWEST_S - offers.upTo(offers.days) * Offers.DAY_S;
            page.link("OlderStories", "before=" + beforeS, Html.date(beforeS));
        }
    }

    private boolean categories() throws SQLException {
        for (Tables.Story one : tables.categories()) {
            page.link("BrowseStoriesInCategory", "category=" + one.id() + "&page=0", one.title());
        }
        return true;
    }

    private boolean category() throws SQLException {
        int category = asked.number("category");
        List<Tables.Story> found = tables.storiesInCategory(category, asked.number("page"));
        if (found.isEmpty() && tables.categories().stream().noneMatch(one -> one.id() == category)) {
            return page.missing("category", asked.text("category"));
        }
        stories(found);
        page.link("BrowseStoriesInCategory", "category=" + category + "&page=" + following(found.size()), "next page");
        return true;
    }

    /** The number of the page behind this one; the first again where this one is the last. */
    private int following(int rows) {
        return rows == Tables.PAGE_ROWS ? asked.number("page") + 1 : 0;
    }

    private boolean older() throws SQLException {
        List<Tables.Story> found = tables.olderStories(asked.number("before", (int) Offers.NEWEST_S));
        stories(found);
        if (!found.isEmpty()) {
            page.link("OlderStories", "before=" + found.get(found.size() - 1).dateS(), "next page");
        }
        days();
        return true;
    }

    private boolean viewStory() throws SQLException {
        int id = asked.number("storyId");
        Tables.Story story = tables.story(id);
        if (story == null) {
            return page.missing("story", id);
        }
        page.story(story);
        page.link("PostComment", "storyId=" + id + "&parent=0", "comment");
        for (Tables.Rated one : tables.commentRatings(id)) {
            String words = one.count() + " comments rated " + one.rating();
            page.link("ViewComment", "storyId=" + id + "&commentId=0&filter=" + one.rating(), words);
        }
        tables.answers(id, 0, -1).forEach(page::comment);
        page.link("ViewComment", "storyId=" + id + "&commentId=0", "all comments");
        page.link("ModerateComment", "commentId=0", "moderate the newest comment");
        return true;
    }

    /** A comment and what answers it, or all that answers the story itself. */
    private boolean viewComment() throws SQLException {
        int story = asked.number("storyId");
        int id = asked.number("commentId");
        if (id > 0) {
            Tables.Comment comment = tables.comment(id);
            if (comment == null || comment.story() != story) {
                return page.missing("story " + story + " with a comment", id);
            }
            page.comment(comment);
        }
        List<Tables.Comment> answers = tables.answers(story, id, asked.number("filter", -1));
        answers.forEach(page::comment);
        if (answers.isEmpty() && id == 0 && tables.story(story) == null) {
            return page.missing("story", story);
        }
        page.link("ViewComment", "storyId=" + story + "&commentId=0", "all comments");
        page.link("PostComment", "storyId=" + story + "&parent=" + id, "comment");
        page.link("ModerateComment", "commentId=" + id, "moderate");
        return true;
    }

    private boolean postComment() {
        String of = "&storyId=" + asked.number("storyId") + "&parent=" + asked.number("parent");
        page.form("StoreComment", offers.user() + of + "&subject=" + offers.words(2, 5), "body");
        return true;
    }

    private boolean moderate() throws SQLException {
        Tables.Comment comment = tables.comment(asked.number("commentId"));
        String author = offers.author();
        if (comment != null) {
            page.comment(comment);
        }
        int id = comment == null ? 0 : comment.id();
        for (int rating = -1; rating <= 1; rating++) {
            page.link("StoreModerateLog", author + "&commentId=" + id + "&rating=" + rating, "rate");
        }
        return comment != null;
    }

    private boolean submit() {
        String of = "&category=" + offers.upTo(offers.categories) + "&title=" + offers.words(3, 7);
        page.form("StoreStory", offers.user() + of, "body");
        return true;
    }

    private boolean search() {
        for (int count = 0; count < OFFERED; count++) {
            String word = offers.word();
            page.link("SearchInStories", "word=" + word, word);
            page.link("SearchInComments", "word=" + word, word);
            page.link("SearchInUsers", "word=user" + offers.upTo(offers.users), "a user");
        }
        return true;
    }

    private boolean searchStories() throws SQLException {
        List<Tables.Story> found = tables.searchStories(asked.text("word"), asked.number("page"));
        stories(found);
        return nextSearch(found.size());
    }

    private boolean searchComments() throws SQLException {
        List<Tables.Comment> found = tables.searchComments(asked.text("word"), asked.number("page"));
        found.forEach(page::comment);
        if (found.isEmpty()) {
            String another = "storyId=" + offers.upTo(offers.stories) + "&commentId=0";
            page.link("ViewComment", another, "comments of another story");
        }
        return nextSearch(found.size());
    }

    private boolean searchUsers() throws SQLException {
        List<Tables.User> found = tables.searchUsers(asked.text("word"), asked.number("page"));
        found.forEach(user -> page.paragraph(user.nickname() + ", rated " + user.rating()));
        nextSearch(found.size());
        return stories(List.of()); // the matrices go on to a story from here
    }

    /** Words of a search are letters and digits only; what else was asked for is not offered again. */
    private boolean nextSearch(int rows) {
        String word = asked.text("word").replaceAll("[^A-Za-z0-9]", "");
        page.link(asked.interaction, "word=" + word + "&page=" + following(rows), "next page");
        return true;
    }

    private boolean authorLogin() {
        page.link("AuthorTask", offers.author(), "log in");
        return true;
    }

    private boolean review() throws SQLException {
        List<Tables.Story> submissions = tables.submissions();
        for (Tables.Story one : submissions) {
            page.paragraph(one.title() + " by " + one.writer());
            decisions(one.id());
        }
        if (submissions.isEmpty()) {
            decisions(0);
        }
        return true;
    }

    private void decisions(int id) {
        page.link("AcceptStory", "submissionId=" + id, "accept");
        page.link("RejectStory", "submissionId=" + id, "reject");
    }
}

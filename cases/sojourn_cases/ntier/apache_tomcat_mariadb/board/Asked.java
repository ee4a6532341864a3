package board;

import jakarta.servlet.http.HttpServletRequest;

/** What a request asks for: an interaction of RUBBoS, and its parameters. */
final class Asked {
    private final HttpServletRequest request;
    final String interaction;

    Asked(HttpServletRequest request) {
        this.request = request;
        String path = request.getRequestURI();
        interaction = path.equals("/") ? "StoriesOfTheDay" : path.substring(1);
    }

    /** A parameter's text; empty where it is not there. */
    String text(String name) {
        String value = request.getParameter(name);
        return value == null ? "" : value;
    }

    /** A parameter as a number of at least 0; 0 where it is none. */
    int number(String name) {
        return Math.max(0, number(name, 0));
    }

    /** A parameter as a number; {@code instead} where it is none. */
    int number(String name, int instead) {
        try {
            return Integer.parseInt(text(name));
        } catch (NumberFormatException none) {
            return instead;
        }
    }
}

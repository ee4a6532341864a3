package board;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;

/**
 * The bulletin board's application tier: the 24 interactions of RUBBoS over the tables in MariaDB. {@code /counts} tells what it did, and so
 * does {@code /begin}, from which on pages take their further CPU time: before, the requests of a warm-up need it not.
 */
public final class BoardServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final Pattern NAMED = Pattern.compile("^-- name: (\\w+)\\n(.*?)(?=^-- name: |\\z)", Pattern.MULTILINE | Pattern.DOTALL);

    private final transient Map<String, LongAdder> completions = new ConcurrentHashMap<>();
    private final transient Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();
    private final transient LongAdder executed = new LongAdder();
    private transient DataSource source;
    private transient Map<String, String> statements;
    private transient Offers offers;
    private double roundsPerS;
    private long rounds;
    private volatile boolean begun;

    @Override
    public void init() throws ServletException {
        try {
            source = (DataSource) new InitialContext().lookup("java:comp/env/jdbc/board");
            statements = statements();
            offers = new Offers(source, Long.parseLong(getInitParameter("seed")));
        } catch (NamingException | SQLException | IOException error) {
            throw new ServletException(error.toString(), error);
        }
        double pageWorkS = Double.parseDouble(getInitParameter("page_work_s"));
        if (pageWorkS > 0) {
            roundsPerS = CpuWork.roundsPerS();
            rounds = Math.round(pageWorkS * roundsPerS);
        }
    }

    private static Map<String, String> statements() throws IOException {
        try (InputStream file = BoardServlet.class.getResourceAsStream("statements.sql")) {
            Map<String, String> found = new HashMap<>();
            Matcher named = NAMED.matcher(new String(file.readAllBytes(), StandardCharsets.UTF_8));
            while (named.find()) {
                found.put(named.group(1), named.group(2).strip());
            }
            return found;
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        boolean begins = request.getRequestURI().equals("/begin");
        begun |= begins;
        if (begins || request.getRequestURI().equals("/counts")) {
            answer(response, 200, "application/json", counts());
            return;
        }
        Asked asked = new Asked(request);
        boolean known = Pages.INTERACTIONS.contains(asked.interaction);
        Pages.Page page = known ? page(asked) : refusal(404, "");
        completions.computeIfAbsent(known ? asked.interaction : "other", name -> new LongAdder()).increment();
        statuses.computeIfAbsent(page.status(), status -> new LongAdder()).increment();
        answer(response, page.status(), "text/html;charset=utf-8", page.text());
    }

    private Pages.Page page(Asked asked) {
        Pages.Page page;
        Tables tables = new Tables(source, statements);
        try (tables) {
            page = Pages.made(offers, tables, asked);
        } catch (SQLException error) {
            page = refusal(503, String.valueOf(error.getMessage()));
        }
        executed.add(tables.executed());
        if (begun) {
            CpuWork.work(rounds);
        }
        return page;
    }

    /** A page that says what is wrong. */
    private static Pages.Page refusal(int status, String why) {
        Html page = new Html(Integer.toString(status));
        page.paragraph(why);
        return new Pages.Page(status, page.end());
    }

    private static void answer(HttpServletResponse response, int status, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType(type);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    private String counts() {
        long all = completions.values().stream().mapToLong(LongAdder::sum).sum();
        return "{\"completions\": " + all + ", \"statements\": " + executed.sum() + ", \"rounds_per_s\": " + roundsPerS
                + ", \"by_kind\": " + json(completions) + ", \"statuses\": " + json(statuses) + "}";
    }

    private static String json(Map<?, LongAdder> counts) {
        StringBuilder text = new StringBuilder("{");
        counts.forEach((name, count) -> text.append(text.length() > 1 ? ", " : "").append('"').append(name).append("\": ").append(count.sum()));
        return text.append('}').toString();
    }
}

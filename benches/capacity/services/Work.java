// A service on the JVM: a pool of `workers` threads that wait 5 ms and hash for a while.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.concurrent.Executors;

public class Work {
    public static void main(String[] given) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(given[0])), 512);
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(given[1])));
        server.createContext("/", exchange -> {
            try {
                Thread.sleep(5);
                byte[] sum = "page".getBytes();
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                for (int i = 0; i < 2000; i++) sum = digest.digest(sum);
                exchange.sendResponseHeaders(200, sum.length);
                exchange.getResponseBody().write(sum);
            } catch (Exception error) {
                exchange.sendResponseHeaders(500, -1);
            } finally {
                exchange.close();
            }
        });
        server.start();
    }
}

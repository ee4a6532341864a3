// A service on the JVM: three threads that wait exponentially, 8 ms on average.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

public class Waits {
    public static void main(String[] given) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(given[0])), 512);
        server.setExecutor(Executors.newFixedThreadPool(3));
        server.createContext("/", exchange -> {
            try {
                long nanos = (long) (-8e6 * Math.log(1 - ThreadLocalRandom.current().nextDouble()));
                Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
                exchange.sendResponseHeaders(200, 2);
                exchange.getResponseBody().write("ok".getBytes());
            } catch (InterruptedException error) {
                exchange.sendResponseHeaders(500, -1);
            } finally {
                exchange.close();
            }
        });
        server.start();
    }
}

// A service on the JVM: threads for all that come, and a lock in which one at a time sorts 20 000 numbers.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public class Single {
    public static void main(String[] given) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(given[0])), 512);
        server.setExecutor(Executors.newFixedThreadPool(64));
        ReentrantLock one = new ReentrantLock();
        server.createContext("/", exchange -> {
            one.lock();
            try {
                int[] numbers = new SplittableRandom(7).ints(20_000).toArray();
                Arrays.sort(numbers);
            } finally {
                one.unlock();
            }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }
}

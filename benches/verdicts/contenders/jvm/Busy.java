import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A service that does a stated amount of work for each request. */
final class Busy {
    private static final byte[] DONE = response("200 OK", "done");
    private static final byte[] MISSING = response("404 Not Found", "");
    private static final int ROUNDS = Integer.parseInt(System.getenv("ROUNDS"));

    /** What the last one worked out, so that the compiler does not leave the work out. */
    private static volatile long result;

    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(System.getenv("PORT"));
        try (ServerSocket listener = new ServerSocket(port, 1024)) {
            while (true) {
                Socket socket = listener.accept();
                new Thread(() -> serve(socket)).start();
            }
        }
    }

    /** Answers until the client is gone. */
    private static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            var in = new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            OutputStream out = socket.getOutputStream();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                boolean asked = line.startsWith("GET /work ");
                while (line != null && !line.isEmpty()) {
                    line = in.readLine();
                }
                if (asked) {
                    result = work();
                }
                out.write(asked ? DONE : MISSING);
            }
        } catch (IOException gone) {
            // So is the connection.
        }
    }

    /** Each round needs the result of the one before. */
    private static long work() {
        long state = 0x9e3779b97f4a7c15L;
        for (int round = 0; round < ROUNDS; round++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
        }
        return state;
    }

    private static byte[] response(String status, String body) {
        String text = "HTTP/1.1 " + status + "\r\ncontent-length: " + body.length() + "\r\n\r\n" + body;
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}

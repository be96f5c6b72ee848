import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.internals.Exit;
import org.apache.kafka.tools.DeleteRecordsCommand;
import org.apache.kafka.tools.GroupsCommand;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;
import org.apache.kafka.tools.consumer.group.ShareGroupCommand;
import org.apache.kafka.tools.streams.StreamsGroupCommand;

/**
 * Kafka's own tools, called again and again in one warm JVM. One JSON object a line:
 * in {"tool": "consumer-groups", .. as below, "args": [..]}; out {"stdout", "stderr", "status"}.
 */
public final class WarmTools {
    /** Thrown where the tool would have ended the JVM. An Error, so that its catch-alls that name Exception let it pass. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1L;
    }

    /** What one call printed and how it ended; nothing counts any more once the tool has exited. */
    private static final class Call {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final ByteArrayOutputStream err = new ByteArrayOutputStream();
        private Integer status;

        private synchronized void end(int code, PrintStream stdout, PrintStream stderr) {
            if (status == null) {
                status = code;
                stdout.flush();
                stderr.flush();
                System.setOut(new PrintStream(PrintStream.nullOutputStream()));
                System.setErr(new PrintStream(PrintStream.nullOutputStream()));
            }
        }
    }

    private WarmTools() {
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        PrintStream realErr = System.err;
        ObjectMapper json = new ObjectMapper();
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            JsonNode request = json.readTree(line);
            String[] argv = new String[request.get("args").size()];
            for (int i = 0; i < argv.length; i++) {
                argv[i] = request.get("args").get(i).asText();
            }
            Call call = run(request.get("tool").asText(), argv);
            System.setOut(answers);
            System.setErr(realErr);
            ObjectNode answer = json.createObjectNode();
            answer.put("stdout", call.out.toString(StandardCharsets.UTF_8));
            answer.put("stderr", call.err.toString(StandardCharsets.UTF_8));
            answer.put("status", call.status == null ? 0 : call.status);
            answers.write((json.writeValueAsString(answer) + "\n").getBytes(StandardCharsets.UTF_8));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static Call run(String tool, String[] argv) {
        Call call = new Call();
        PrintStream stdout = new PrintStream(call.out, true, StandardCharsets.UTF_8);
        PrintStream stderr = new PrintStream(call.err, true, StandardCharsets.UTF_8);
        Exit.Procedure ended = (code, message) -> {
            call.end(code, stdout, stderr);
            throw new Ended();
        };
        Exit.setExitProcedure(ended);
        Exit.setHaltProcedure(ended);
        System.setOut(stdout);
        System.setErr(stderr);
        try {
            switch (tool) {
                case "consumer-groups" -> ConsumerGroupCommand.main(argv);
                case "groups" -> GroupsCommand.main(argv);
                case "share-groups" -> ShareGroupCommand.main(argv);
                case "streams-groups" -> StreamsGroupCommand.main(argv);
                case "delete-records" -> DeleteRecordsCommand.main(argv);
                default -> throw new IllegalArgumentException("no such tool: " + tool);
            }
        } catch (Ended done) {
            // its status is in the call already
        } catch (Throwable uncaught) {
            // as the JVM does with an exception that leaves main
            stderr.print("Exception in thread \"main\" ");
            uncaught.printStackTrace(stderr);
            call.end(1, stdout, stderr);
        }
        stdout.flush();
        stderr.flush();
        return call;
    }
}

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.Readable;

/**
 * Kafka's own conversion of messages between bytes and JSON. One JSON object a line:
 * in {"api", "response", "version", "bytes" (hex)}; out {"json", "bytes"}: the message as Kafka's JSON, and
 * the bytes of what Kafka reads from that JSON, or {"versions": [lowest, highest]} if it has no such version.
 * With "json" instead of "bytes" in, it is that JSON that is read; {"error"} out if Kafka refuses it.
 */
public final class MessageJson {
    private MessageJson() {
    }

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        var mapper = new ObjectMapper();
        String line;
        while ((line = in.readLine()) != null) {
            out.println(mapper.writeValueAsString(answer(mapper, mapper.readTree(line))));
            out.flush();
        }
    }

    private static ObjectNode answer(ObjectMapper mapper, JsonNode asked) throws Exception {
        ObjectNode answer = mapper.createObjectNode();
        ApiMessageType type = ApiMessageType.fromApiKey((short) asked.get("api").intValue());
        short version = (short) asked.get("version").intValue();
        if (version < type.lowestSupportedVersion() || version > type.highestSupportedVersion(true)) {
            answer.putArray("versions").add(type.lowestSupportedVersion()).add(type.highestSupportedVersion(true));
            return answer;
        }
        boolean response = asked.get("response").booleanValue();
        Class<?> kind = (response ? type.newResponse() : type.newRequest()).getClass();
        Class<?> converter = Class.forName(kind.getName() + "JsonConverter");
        JsonNode json = asked.get("json");
        if (json == null) {
            var bytes = new ByteBufferAccessor(ByteBuffer.wrap(HexFormat.of().parseHex(asked.get("bytes").textValue())));
            Object message = kind.getConstructor(Readable.class, short.class).newInstance(bytes, version);
            json = (JsonNode) converter.getMethod("write", kind, short.class).invoke(null, message, version);
        }
        answer.set("json", json);
        try {
            // as text and back, for what was written holds numbers and bytes of Java's own
            JsonNode read = mapper.readTree(mapper.writeValueAsString(json));
            var message = (ApiMessage) converter.getMethod("read", JsonNode.class, short.class).invoke(null, read, version);
            ByteBuffer written = MessageUtil.toByteBufferAccessor(message, version).buffer();
            byte[] bytes = new byte[written.remaining()];
            written.get(bytes);
            answer.put("bytes", HexFormat.of().formatHex(bytes));
        } catch (java.lang.reflect.InvocationTargetException refused) {
            answer.put("error", String.valueOf(refused.getCause().getMessage()));
        }
        return answer;
    }
}

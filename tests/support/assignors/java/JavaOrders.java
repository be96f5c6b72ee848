import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;

/**
 * What java.util.HashMap and Kafka's replica placer do. One JSON object a line:
 * in {"put": [key, ..]} where a key that is there already is removed, or
 * {"racks": [rack or null, ..], "partitions", "replicas", "seed"}; out {"java": ..}, the keys in the map's
 * order or the brokers of each partition.
 */
public final class JavaOrders {
    private static final ObjectMapper JSON = new ObjectMapper();

    private JavaOrders() {
    }

    public static void main(String[] args) throws Exception {
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder answers = new StringBuilder();
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            JsonNode request = JSON.readTree(line);
            ArrayNode found = request.has("put") ? ordered(request) : placed(request);
            answers.append(JSON.createObjectNode().set("java", found).toString()).append('\n');
        }
        System.out.write(answers.toString().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }

    private static ArrayNode ordered(JsonNode request) {
        Map<Object, Boolean> map = new HashMap<>();
        for (JsonNode node : request.get("put")) {
            Object key = node.isInt() ? (Object) node.asInt() : node.asText();
            if (map.containsKey(key)) {
                map.remove(key);
            } else {
                map.put(key, true);
            }
        }
        return JSON.valueToTree(new ArrayList<>(map.keySet()));
    }

    private static ArrayNode placed(JsonNode request) {
        List<UsableBroker> brokers = new ArrayList<>();
        for (JsonNode rack : request.get("racks")) {
            Optional<String> name = rack.isNull() ? Optional.empty() : Optional.of(rack.asText());
            brokers.add(new UsableBroker(brokers.size(), name, false));
        }
        ClusterDescriber cluster = new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int broker) {
                return Uuid.ZERO_UUID;
            }
        };
        int partitions = request.get("partitions").asInt();
        short replicas = (short) request.get("replicas").asInt();
        StripedReplicaPlacer placer = new StripedReplicaPlacer(new Random(request.get("seed").asLong()));
        ArrayNode found = JSON.createArrayNode();
        for (PartitionAssignment each : placer.place(new PlacementSpec(0, partitions, replicas), cluster).assignments()) {
            found.add(JSON.valueToTree(each.replicas()));
        }
        return found;
    }
}

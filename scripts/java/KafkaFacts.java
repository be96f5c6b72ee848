import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;

/** What a release of Kafka knows that its message definitions do not tell: a line each. */
public final class KafkaFacts {
    private KafkaFacts() {
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        for (Errors error : Errors.values()) {
            System.out.println("error " + error.code() + " " + error.name());
        }
        print("broker property", AbstractKafkaConfig.CONFIG_DEF);
        Object own = GroupConfig.class.getField("CONFIG_DEF").get(null);
        print("group setting", (ConfigDef) own);
    }

    private static void print(String kind, ConfigDef settings) {
        Map<String, ConfigDef.ConfigKey> keys = new TreeMap<>(settings.configKeys());
        keys.forEach((name, key) -> System.out.println(
            kind + " " + name + " " + key.type + " " + (key.hasDefault() ? key.defaultValue : "required") + (key.internalConfig ? " internal" : "")));
    }
}

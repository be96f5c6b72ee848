import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.config.ConfigDef;

/** Every property of a consumer: name, type, default, range, a line each; "-" for none. */
public final class ConsumerProperties {
  public static void main(String[] arguments) {
    for (ConfigDef.ConfigKey key : new TreeMap<>(ConsumerConfig.configDef().configKeys()).values()) {
      if (!key.internalConfig) {
        Object value = key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null;
        System.out.println(key.name + "\t" + key.type + "\t" + (value == null ? "-" : value)
            + "\t" + (key.validator instanceof ConfigDef.Range ? key.validator : "-"));
      }
    }
  }
}

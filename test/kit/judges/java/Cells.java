import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Values as cells of the wire form (see wire.ts): texts for all that is exact, numbers for doubles. */
final class Cells {
  /** A row, or a row inside a cell. */
  record Struct(List<?> values) {}

  private static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("HH:mm:ss");

  private final UnaryOperator<Object> plain;

  /** `plain` turns the engine's own rows and collections into a Struct, a List or a Map of java.util. */
  Cells(UnaryOperator<Object> plain) {
    this.plain = plain;
  }

  List<Object> all(Iterable<?> values) {
    List<Object> cells = new ArrayList<>();
    for (Object value : values) cells.add(of(value));
    return cells;
  }

  Object of(Object raw) {
    Object value = plain.apply(raw);
    if (value == null || value instanceof String) return value;
    if (value instanceof Double d) return number(d, d);
    if (value instanceof Float f) return number(f.doubleValue(), Map.of("f", f));
    if (value instanceof BigDecimal d) return d.toPlainString();
    if (value instanceof byte[] bytes) return hex(ByteBuffer.wrap(bytes));
    if (value instanceof ByteBuffer bytes) return hex(bytes.duplicate());
    if (value instanceof LocalTime time) return SECONDS.format(time) + fraction(time.getNano());
    if (value instanceof LocalDateTime time) return dateTime(time);
    if (value instanceof Instant time) {
      return dateTime(LocalDateTime.ofInstant(time, ZoneOffset.UTC)) + "Z";
    }
    if (value instanceof Struct struct) return Map.of("struct", all(struct.values()));
    if (value instanceof Object[] items) return Map.of("list", all(Arrays.asList(items)));
    if (value instanceof Iterable<?> items) return Map.of("list", all(items));
    if (value instanceof Map<?, ?> map) return pairs(map);
    return value.toString();
  }

  private Map<String, Object> pairs(Map<?, ?> map) {
    List<Object> pairs = new ArrayList<>();
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      pairs.add(all(Arrays.asList(entry.getKey(), entry.getValue())));
    }
    return Map.of("map", pairs);
  }

  /** JSON has no words for these four. */
  private static Object number(double value, Object cell) {
    if (Double.isNaN(value)) return "NaN";
    if (Double.isInfinite(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value == 0 && 1 / value < 0 ? "-0" : cell;
  }

  private static String dateTime(LocalDateTime time) {
    // LocalDate writes years beyond four digits with a sign, as ISO 8601 wants it.
    return time.toLocalDate() + "T" + SECONDS.format(time) + fraction(time.getNano());
  }

  private static String fraction(int nanos) {
    return nanos == 0 ? "" : "." + String.format("%09d", nanos).replaceAll("0+$", "");
  }

  private static String hex(ByteBuffer bytes) {
    StringBuilder out = new StringBuilder("0x");
    while (bytes.hasRemaining()) out.append(String.format("%02x", bytes.get()));
    return out.toString();
  }
}

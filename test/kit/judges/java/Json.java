import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as the judges speak. Maps, lists, texts, booleans, null; numbers are doubles. */
final class Json {
  private final String text;
  private int at = 0;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    return new Json(text).value();
  }

  private Object value() {
    char c = peek();
    if (c == '{') return object();
    if (c == '[') return array();
    if (c == '"') return string();
    int start = at;
    while (at < text.length() && ",]} \n\r\t".indexOf(text.charAt(at)) < 0) at++;
    String word = text.substring(start, at);
    if (word.equals("null")) return null;
    if (word.equals("true") || word.equals("false")) return word.equals("true");
    return Double.parseDouble(word);
  }

  private Map<String, Object> object() {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    while (peek() != '}') {
      String key = string();
      if (peek() != ':') throw new IllegalArgumentException("no colon at " + at);
      at++;
      map.put(key, value());
      if (peek() == ',') at++;
    }
    at++;
    return map;
  }

  private List<Object> array() {
    List<Object> list = new ArrayList<>();
    at++;
    while (peek() != ']') {
      list.add(value());
      if (peek() == ',') at++;
    }
    at++;
    return list;
  }

  private String string() {
    if (peek() != '"') throw new IllegalArgumentException("no text at " + at);
    StringBuilder out = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      char c = text.charAt(at);
      if (c != '\\') {
        out.append(c);
        continue;
      }
      c = text.charAt(++at);
      int plain = "bfnrt".indexOf(c);
      if (plain >= 0) {
        out.append("\b\f\n\r\t".charAt(plain));
      } else if (c == 'u') {
        out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
        at += 4;
      } else {
        out.append(c);
      }
    }
    at++;
    return out.toString();
  }

  private char peek() {
    while (" \n\r\t".indexOf(text.charAt(at)) >= 0) at++;
    return text.charAt(at);
  }

  static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out) {
    if (value == null || value instanceof Boolean || value instanceof Number) {
      out.append(value);
    } else if (value instanceof Map<?, ?> map) {
      String before = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(before);
        quote(entry.getKey().toString(), out);
        out.append(':');
        write(entry.getValue(), out);
        before = ",";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof List<?> list) {
      String before = "[";
      for (Object item : list) {
        out.append(before);
        write(item, out);
        before = ",";
      }
      out.append(list.isEmpty() ? "[]" : "]");
    } else {
      quote(value.toString(), out);
    }
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      // Everything outside ASCII is escaped too, so that no encoding between two processes can spoil it.
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < ' ' || c > '~') out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    out.append('"');
  }
}

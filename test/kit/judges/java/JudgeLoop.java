import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** One JSON request a line on stdin, one JSON answer a line on stdout. What libraries print goes to stderr. */
final class JudgeLoop {
  /** Statements of one request, run in order; they share settings and temporary tables with no other request. */
  interface Script {
    /** The rows of one statement: columns and rows, both empty where it has none. */
    Map<String, Object> run(String statement) throws Exception;
  }

  interface Judge {
    Script open(Map<String, Object> request) throws Exception;
  }

  private JudgeLoop() {}

  /** Must be called before any library looks at System.out. */
  static PrintStream takeStdout() {
    PrintStream out = System.out;
    System.setOut(System.err);
    return out;
  }

  /** Ends when stdin does, even in the middle of a statement: whoever asked is gone then. */
  static void serve(PrintStream out, Judge judge) throws Exception {
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> read(lines), "requests");
    reader.setDaemon(true);
    reader.start();
    out.println("{\"ready\":true}");
    while (true) {
      out.println(Json.write(answer(judge, asMap(Json.parse(lines.take())))));
      out.flush();
    }
  }

  private static void read(BlockingQueue<String> lines) {
    InputStreamReader bytes = new InputStreamReader(System.in, StandardCharsets.UTF_8);
    try (BufferedReader in = new BufferedReader(bytes)) {
      for (String line; (line = in.readLine()) != null; ) lines.add(line);
    } catch (IOException error) {
      error.printStackTrace();
    }
    System.exit(0);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> asMap(Object value) {
    return (Map<String, Object>) value;
  }

  private static Map<String, Object> answer(Judge judge, Map<String, Object> request) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("id", request.get("id"));
    long start = System.nanoTime();
    List<Object> results = new ArrayList<>();
    String statement = null;
    try {
      Script script = judge.open(request);
      for (Object sql : (List<?>) request.get("statements")) {
        statement = (String) sql;
        long begin = System.nanoTime();
        Map<String, Object> result = new LinkedHashMap<>(script.run(statement));
        result.put("ms", millisSince(begin));
        results.add(result);
      }
      answer.put("ok", true);
      answer.put("result", results);
    } catch (Throwable error) {
      answer.put("ok", false);
      answer.put("chain", chain(error));
      answer.put("statement", statement);
    }
    answer.put("ms", millisSince(start));
    return answer;
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  static List<Object> chain(Throwable error) {
    List<Object> chain = new ArrayList<>();
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Throwable e = error; e != null && seen.add(e); e = e.getCause()) {
      chain.add(e.getClass().getName() + ": " + e.getMessage());
    }
    return chain;
  }
}

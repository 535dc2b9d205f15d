import java.io.PrintStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ResultKind;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Flink SQL in one process: one small cluster that stays, and a table environment for each request, in which the
 * catalog `lake` is the hadoop catalog of the request's warehouse. The cluster is addressed as a remote one, because
 * then a failed job brings the whole chain of its causes.
 */
public final class FlinkJudge {
  private static final Pattern SET =
      Pattern.compile("\\s*SET\\s+'([^']+)'\\s*=\\s*'([^']*)'\\s*;?\\s*", Pattern.CASE_INSENSITIVE);
  private static final Pattern QUERY =
      Pattern.compile("\\s*(SELECT|WITH|VALUES)\\b.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final long CANCEL_SECONDS = 20;
  private static final Cells CELLS = new Cells(FlinkJudge::plain);

  private FlinkJudge() {}

  public static void main(String[] args) throws Exception {
    PrintStream out = JudgeLoop.takeStdout();
    URI cluster = startCluster();
    JudgeLoop.serve(out, request -> open(cluster, request));
  }

  private static URI startCluster() throws Exception {
    Configuration conf = new Configuration();
    conf.setString("rest.port", "0");
    conf.setString("rest.bind-port", "0");
    conf.setString("rest.bind-address", "127.0.0.1");
    conf.setString("rest.address", "127.0.0.1");
    conf.setString("taskmanager.memory.managed.size", "128mb");
    conf.setString("jobstore.max-capacity", "5");
    MiniClusterConfiguration cluster =
        new MiniClusterConfiguration.Builder()
            .setNumTaskManagers(1)
            .setNumSlotsPerTaskManager(4)
            .setConfiguration(conf)
            .build();
    MiniCluster started = new MiniCluster(cluster);
    started.start();
    return started.getRestAddress().get();
  }

  private static JudgeLoop.Script open(URI cluster, Map<String, Object> request) {
    Configuration conf = new Configuration();
    conf.setString("execution.target", "remote");
    conf.setString("rest.address", cluster.getHost());
    conf.setString("rest.port", String.valueOf(cluster.getPort()));
    conf.setString("execution.runtime-mode", (String) request.get("mode"));
    conf.setString("parallelism.default", "1");
    conf.setString("restart-strategy.type", "none");
    conf.setString("table.local-time-zone", "UTC");
    // Waiting is done in run(), where it can time out.
    conf.setString("table.dml-sync", "false");
    TableEnvironment env =
        TableEnvironment.create(EnvironmentSettings.newInstance().withConfiguration(conf).build());
    String warehouse = ((String) request.get("warehouse")).replace("'", "''");
    env.executeSql(
        "CREATE CATALOG lake WITH ('type'='iceberg','catalog-type'='hadoop','cache-enabled'='false',"
            + "'warehouse'='" + warehouse + "')");
    long timeoutMs = ((Double) request.get("timeoutMs")).longValue();
    return statement -> run(env, statement, timeoutMs);
  }

  private static Map<String, Object> run(TableEnvironment env, String statement, long timeoutMs)
      throws Exception {
    Matcher set = SET.matcher(statement);
    if (set.matches()) {
      if (!set.group(1).equals("table.dml-sync")) env.getConfig().set(set.group(1), set.group(2));
      return rows(List.of(), List.of());
    }
    TableResult result = env.executeSql(statement);
    if (QUERY.matcher(statement).matches()) return collect(result);
    if (result.getJobClient().isPresent()) {
      await(result, timeoutMs);
      return rows(List.of(), List.of());
    }
    return result.getResultKind() == ResultKind.SUCCESS ? rows(List.of(), List.of()) : collect(result);
  }

  private static void await(TableResult result, long timeoutMs) throws Exception {
    try {
      result.await(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (TimeoutException error) {
      JobClient job = result.getJobClient().orElseThrow();
      job.cancel().get(CANCEL_SECONDS, TimeUnit.SECONDS);
      throw new TimeoutException("the job did not end within " + timeoutMs + " ms and was cancelled");
    }
  }

  private static Map<String, Object> collect(TableResult result) throws Exception {
    List<Object> columns = new ArrayList<>();
    for (Column column : result.getResolvedSchema().getColumns()) columns.add(column.getName());
    List<Object> rows = new ArrayList<>();
    try (CloseableIterator<Row> iterator = result.collect()) {
      while (iterator.hasNext()) rows.add(valuesOf(iterator.next()));
    }
    return rows(columns, rows);
  }

  private static Object plain(Object value) {
    if (!(value instanceof Row row)) return value;
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < row.getArity(); i++) values.add(row.getField(i));
    return new Cells.Struct(values);
  }

  private static List<Object> valuesOf(Row row) {
    return CELLS.all(((Cells.Struct) plain(row)).values());
  }

  private static Map<String, Object> rows(List<Object> columns, List<Object> rows) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("columns", columns);
    result.put("rows", rows);
    return result;
  }
}

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark SQL in one process: one context that stays, and fresh settings for each request, in which the catalog `lake`
 * is the hadoop catalog of the request's warehouse.
 */
public final class SparkJudge {
  private static final Cells CELLS = new Cells(SparkJudge::plain);

  private SparkJudge() {}

  public static void main(String[] args) throws Exception {
    PrintStream out = JudgeLoop.takeStdout();
    SparkSession root =
        SparkSession.builder()
            .appName("judge")
            .master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.datetime.java8API.enabled", "true")
            .config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/warehouse")
            .config(
                "spark.sql.extensions",
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            .getOrCreate();
    JudgeLoop.serve(out, request -> open(root, request));
  }

  private static JudgeLoop.Script open(SparkSession root, Map<String, Object> request) {
    SparkSession spark = root.newSession();
    spark.conf().set("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog");
    spark.conf().set("spark.sql.catalog.lake.type", "hadoop");
    spark.conf().set("spark.sql.catalog.lake.warehouse", (String) request.get("warehouse"));
    spark.conf().set("spark.sql.catalog.lake.cache-enabled", "false");
    return statement -> run(spark, statement);
  }

  private static Map<String, Object> run(SparkSession spark, String statement) {
    Dataset<Row> result = spark.sql(statement);
    List<Object> rows = new ArrayList<>();
    for (Row row : result.collectAsList()) rows.add(CELLS.all(valuesOf(row)));
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("columns", List.of((Object[]) result.columns()));
    answer.put("rows", rows);
    return answer;
  }

  private static Object plain(Object value) {
    if (value instanceof Row row) return new Cells.Struct(valuesOf(row));
    if (value instanceof scala.collection.Seq<?> seq) return CollectionConverters.asJava(seq);
    if (value instanceof scala.collection.Map<?, ?> map) return CollectionConverters.asJava(map);
    return value;
  }

  private static List<Object> valuesOf(Row row) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < row.size(); i++) values.add(row.get(i));
    return values;
  }
}

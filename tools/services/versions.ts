/**
 * What each part consists of. These are the versions that were seen to work together; a change here makes
 * `npm run services` install the part again.
 */
import { fingerprint, isStamped, partDir, type PartName } from './layout.ts';

const FLINK = '1.20.3';
const HADOOP = '3.4.3';
const SPARK = '4.1.3';

export const PYTHON_PACKAGES = [
  'duckdb==1.5.5',
  'duckdb-extension-iceberg==1.5.5',
  'duckdb-extension-avro==1.5.5',
  'pyiceberg==0.12.0',
  'pyarrow==26.0.1',
  'pytz==2025.2',
] as const;

/** A source distribution that is only unpacked, never built: `name==version`. */
export const FLINK_PACKAGE = `apache-flink-libraries==${FLINK}`;
/** What is taken out of it. The SQL client wants the Python jar even for a script without Python. */
export const FLINK_MEMBERS = ['deps/lib/*', 'deps/opt/*'] as const;
export const FLINK_LIB_JARS = [
  'org.apache.iceberg:iceberg-flink-runtime-1.20:1.11.0',
  `org.apache.hadoop:hadoop-client-api:${HADOOP}`,
  `org.apache.hadoop:hadoop-client-runtime:${HADOOP}`,
  'commons-logging:commons-logging:1.3.5',
] as const;
export const FLINK_OPT_JARS = [`org.apache.flink:flink-sql-gateway:${FLINK}`] as const;

/**
 * For whole-process runs: one task manager in the process of the SQL client. Ports are not named here: the client
 * takes free ones, and a `rest.bind-port` would send its gateway to another port than the one it then asks.
 */
export const FLINK_CONFIG: Readonly<Record<string, string>> = {
  'config.yaml': 'taskmanager.numberOfTaskSlots: 4\n',
  'log4j2.properties': `rootLogger.level = ERROR
rootLogger.appenderRef.console.ref = Console
appender.console.name = Console
appender.console.type = Console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1} %m%n
`,
};

export const SPARK_PACKAGE = `pyspark==${SPARK}`;
export const SPARK_MEMBERS = ['deps/jars/*'] as const;
export const SPARK_JARS = ['org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0'] as const;

const RECIPES: Readonly<Record<PartName, string>> = {
  python: fingerprint(...PYTHON_PACKAGES),
  flink: fingerprint(
    FLINK_PACKAGE,
    ...FLINK_MEMBERS,
    ...FLINK_LIB_JARS,
    ...FLINK_OPT_JARS,
    JSON.stringify(FLINK_CONFIG),
  ),
  spark: fingerprint(SPARK_PACKAGE, ...SPARK_MEMBERS, ...SPARK_JARS),
};

export const recipeOf = (part: PartName): string => RECIPES[part];
export const isInstalled = (part: PartName): boolean => isStamped(partDir(part), recipeOf(part));

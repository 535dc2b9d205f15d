/** What Flink and Spark of these versions need opened in a Java 17. */
const opens = (packages: readonly string[]): string[] =>
  packages.flatMap((name) => ['--add-opens', `java.base/${name}=ALL-UNNAMED`]);
const exports = (packages: readonly string[]): string[] =>
  packages.flatMap((name) => ['--add-exports', `${name}=ALL-UNNAMED`]);

const COMMON = [
  'java.lang',
  'java.lang.reflect',
  'java.io',
  'java.net',
  'java.nio',
  'java.util',
  'java.util.concurrent',
  'java.util.concurrent.atomic',
  'sun.nio.ch',
];

export const FLINK_FLAGS: readonly string[] = [
  '-Duser.timezone=UTC',
  ...exports([
    'java.base/sun.net.util',
    'java.rmi/sun.rmi.registry',
    'java.security.jgss/sun.security.krb5',
  ]),
  ...opens([...COMMON, 'java.text', 'java.time', 'java.util.concurrent.locks']),
];

export const SPARK_FLAGS: readonly string[] = [
  '-Duser.timezone=UTC',
  '-XX:+IgnoreUnrecognizedVMOptions',
  '-Djdk.reflect.useDirectMethodHandle=false',
  '-Dio.netty.tryReflectionSetAccessible=true',
  ...opens([
    ...COMMON,
    'java.lang.invoke',
    'jdk.internal.ref',
    'sun.nio.cs',
    'sun.security.action',
    'sun.util.calendar',
  ]),
];

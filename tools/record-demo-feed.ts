/**
 * Makes the feed of `lakeward demo`, src/demo/quakes.ndjson.gz, from one week of earthquakes (U.S. Geological Survey,
 * public domain) as the npm package vega-datasets 3.2.1 carries them:
 *
 *   npm pack vega-datasets@3.2.1 && tar xzf vega-datasets-3.2.1.tgz
 *   npx tsx tools/record-demo-feed.ts package/data/earthquakes.json
 *
 * The same input gives the same lines. What is genuine in them and what was added stands in docs/demo.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';

/** An event as the file has it: its last version. */
export interface Quake {
  readonly id: string;
  readonly magnitude: number;
  readonly place: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly updated: number;
  readonly status: string;
  readonly type: string;
  readonly tsunami: number;
  readonly felt: number | null;
  readonly depth_km: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly network: string;
  /** Every id the event has been known by, `,ak18383983,us1000chw0,`, and the networks that gave them, in that order. */
  readonly ids: string;
  readonly networks: string;
}

/** A row of the table `public.quakes`. Numerics travel as text, as Debezium's `decimal.handling.mode: string` does. */
interface Row {
  readonly id: string;
  readonly magnitude: string | null;
  readonly place: string | null;
  readonly time: number;
  readonly updated: number;
  readonly status: string;
  readonly type: string | null;
  readonly tsunami: number | null;
  readonly felt: number | null;
  readonly depth_km: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly network: string;
  readonly ids: string | null;
  readonly networks: string | null;
}

interface Change {
  readonly op: 'c' | 'u' | 'd';
  readonly ts: number;
  readonly before: Row | null;
  readonly after: Row | null;
}

interface Feature {
  readonly id: string;
  readonly properties: Readonly<Record<string, string | number | null>>;
  readonly geometry: { readonly coordinates: readonly [number, number, number] };
}

export function readQuakes(geojson: string): Quake[] {
  const { features } = JSON.parse(geojson) as { features: Feature[] };
  return features.map(({ id, properties: p, geometry }) => {
    const [longitude, latitude, depth] = geometry.coordinates;
    return {
      id,
      magnitude: Number(p['mag']),
      place: String(p['place']),
      time: Number(p['time']),
      updated: Number(p['updated']),
      status: String(p['status']),
      type: String(p['type']),
      tsunami: Number(p['tsunami']),
      felt: p['felt'] as number | null,
      depth_km: depth,
      latitude,
      longitude,
      network: String(p['net']),
      ids: String(p['ids']),
      networks: String(p['sources']),
    };
  });
}

const SENT_AGAIN = 64;

/** The lines of the feed, without line breaks. */
export function recordFeed(quakes: readonly Quake[]): string[] {
  const spoilt = spoiltQuake(quakes);
  const changes = quakes.flatMap((quake) => changesOf(quake)).toSorted(inOrder);
  let lsn = 24_000_000;
  const lines = changes.map((change, i) => {
    const line = envelope(change, lsn, 700 + i);
    lsn += 8 * Math.ceil(line.length / 8);
    return line;
  });
  const at = changes.findIndex((change) => change.after?.id === spoilt.id);
  lines[at] = (lines[at] ?? '').replace(
    `"magnitude":"${numeric(spoilt.magnitude, 2)}"`,
    '"magnitude":"unknown"',
  );
  return deliver(lines, at);
}

/** The one whose magnitude becomes a text: an event of one change, in the midst of the week. */
function spoiltQuake(quakes: readonly Quake[]): Quake {
  const once = quakes.filter((q) => q.status === 'automatic' && q.ids.split(',').length === 3);
  const chosen = once.toSorted((a, b) => a.time - b.time)[Math.floor(once.length / 2)];
  if (chosen === undefined) throw new Error('the input has no event of one change');
  return chosen;
}

function changesOf(quake: Quake): Change[] {
  const last = rowOf(quake);
  const first: Row = {
    ...last,
    status: 'automatic',
    updated: quake.time,
    ids: `,${quake.id},`,
    networks: `,${quake.network},`,
  };
  const own: Change[] =
    quake.status === 'automatic'
      ? [{ op: 'c', ts: quake.updated, before: null, after: last }]
      : [
          { op: 'c', ts: quake.time, before: null, after: first },
          { op: 'u', ts: quake.updated, before: first, after: last },
        ];
  return [
    ...own,
    ...otherIds(quake).flatMap((row): Change[] => [
      { op: 'c', ts: quake.time, before: null, after: row },
      { op: 'd', ts: quake.updated, before: row, after: null },
    ]),
  ];
}

function rowOf(quake: Quake): Row {
  return { ...quake, magnitude: numeric(quake.magnitude, 2), depth_km: numeric(quake.depth_km, 3) };
}

/** Rows of the ids that were given up when the event got its final one. What their networks measured is not known. */
function otherIds(quake: Quake): Row[] {
  const networks = quake.networks.split(',');
  return quake.ids.split(',').flatMap((id, i): Row[] => {
    if (id === '' || id === quake.id) return [];
    const unknown = {
      magnitude: null,
      place: null,
      type: null,
      tsunami: null,
      felt: null,
      depth_km: null,
      latitude: null,
      longitude: null,
    };
    const known = {
      id,
      time: quake.time,
      updated: quake.time,
      status: 'automatic',
      network: networks[i] ?? '',
      ids: null,
      networks: null,
    };
    return [{ ...known, ...unknown }];
  });
}

function numeric(value: number, scale: number): string {
  const text = value.toFixed(scale);
  if (Number(text) !== value) throw new Error(`${value} has more than ${scale} decimals`);
  return text;
}

function inOrder(a: Change, b: Change): number {
  return a.ts - b.ts || a.op.localeCompare(b.op) || idOf(a).localeCompare(idOf(b));
}

function idOf(change: Change): string {
  return (change.after ?? change.before)?.id ?? '';
}

const COLUMNS = [
  'id',
  'magnitude',
  'place',
  'time',
  'updated',
  'status',
  'type',
  'tsunami',
  'felt',
  'depth_km',
  'latitude',
  'longitude',
  'network',
  'ids',
  'networks',
] as const satisfies readonly (keyof Row)[];

function envelope(change: Change, lsn: number, txId: number): string {
  const image = (row: Row | null): unknown =>
    row && Object.fromEntries(COLUMNS.map((name) => [name, row[name]]));
  const source = {
    connector: 'postgresql',
    name: 'usgs',
    ts_ms: change.ts,
    snapshot: 'false',
    db: 'usgs',
    schema: 'public',
    table: 'quakes',
    txId,
    lsn,
  };
  return JSON.stringify({
    before: image(change.before),
    after: image(change.after),
    source,
    op: change.op,
    ts_ms: change.ts + 100,
  });
}

/** Three times the transport loses its place and sends the last lines again; never the spoilt one. */
function deliver(lines: readonly string[], spoilt: number): string[] {
  const breaks = [1, 2, 3].map((quarter) => Math.floor((lines.length * quarter) / 4));
  if (breaks.some((at) => spoilt >= at - SENT_AGAIN && spoilt < at))
    throw new Error('the spoilt line would be sent twice');
  return lines.flatMap((line, i) =>
    breaks.includes(i + 1) ? [line, ...lines.slice(i + 1 - SENT_AGAIN, i + 1)] : [line],
  );
}

export interface DemoNumbers {
  readonly lines: number;
  readonly duplicates: number;
  readonly deadLetters: number;
  readonly rows: number;
  readonly events: { readonly create: number; readonly update: number; readonly delete: number };
}

/** What a run over the feed has to end with, by a fold of its own over the raw lines. */
export async function countDemo(feedPath: string): Promise<DemoNumbers> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(`
    WITH feed AS (
      SELECT row_number() OVER () AS n, op, source.lsn AS lsn, coalesce(after.id, before.id) AS id,
        after.magnitude IS NOT NULL AND TRY_CAST(after.magnitude AS DECIMAL(4,2)) IS NULL AS bad
      FROM read_json('${feedPath.replaceAll("'", "''")}', format = 'newline_delimited', columns = {op: 'VARCHAR',
        source: 'STRUCT(lsn BIGINT)', before: 'STRUCT(id VARCHAR)', after: 'STRUCT(id VARCHAR, magnitude VARCHAR)'})),
    judged AS (
      SELECT *, coalesce(lsn <= max(lsn) OVER (PARTITION BY id ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), FALSE) AS old
      FROM feed WHERE NOT bad),
    last AS (SELECT arg_max(op, n) AS op FROM judged WHERE NOT old GROUP BY id)
    SELECT (SELECT count(*) FROM feed), (SELECT count(*) FROM judged WHERE old), (SELECT count(*) FROM feed WHERE bad),
      (SELECT count(*) FROM last WHERE op <> 'd'),
      count(*) FILTER (op = 'c'), count(*) FILTER (op = 'u'), count(*) FILTER (op = 'd')
    FROM judged WHERE NOT old`);
  const [lines = 0, duplicates = 0, deadLetters = 0, rows = 0, create = 0, update = 0, gone = 0] = (
    reader.getRows()[0] ?? []
  ).map(Number);
  connection.disconnectSync();
  return { lines, duplicates, deadLetters, rows, events: { create, update, delete: gone } };
}

async function main(input: string): Promise<void> {
  const output = fileURLToPath(new URL('../src/demo/quakes.ndjson.gz', import.meta.url));
  const lines = recordFeed(readQuakes(readFileSync(input, 'utf8')));
  writeFileSync(output, gzipSync(`${lines.join('\n')}\n`, { level: 9 }));
  console.log(JSON.stringify(await countDemo(output), null, 2));
}

const [, script, input] = process.argv;
if (script === fileURLToPath(import.meta.url)) {
  if (input === undefined)
    throw new Error('usage: npx tsx tools/record-demo-feed.ts <earthquakes.json>');
  await main(input);
}

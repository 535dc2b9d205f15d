/**
 * A generated change feed of one MySQL table, `shop.orders`, as Debezium envelopes without schema, one a line, about
 * 380 bytes each: 25 % inserts, 65 % updates, 10 % deletes, full before images that agree with the last after image.
 * The keys of updates follow Zipf's law (exponent 1) over the live rows; one insert in 64 takes a deleted key again.
 * The same parameters give the same bytes everywhere: one seeded generator, no clock.
 *
 * `tsx bench/generate-feed.ts --rows 1000000 [--seed 1]` prints the path of the file.
 */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export interface FeedParameters {
  /** Lines of the feed; every line is one change. */
  readonly rows: number;
  readonly seed: number;
}

/** Raised whenever the bytes for the same parameters change, so that an old file is not taken for a new one. */
const VERSION = 1;
const START_MS = 1_760_000_000_000;
const CHANGES_PER_MS = 10;
const BINLOG_BYTES_MAX = 104_857_600;
const CHUNK_BYTES = 1 << 22;
const LINE_BYTES_MAX = 1024;
const STATUSES = ['new', 'paid', 'packed', 'shipped', 'delivered', 'returned'];
const WORDS = [
  'gift',
  'call',
  'back door',
  'fragile',
  'say \\"hi\\"',
  'no rush',
  'caf\u00c3\u00a9',
  'two\\nlines',
];
const DATA_FOLDER = join(import.meta.dirname, '.data');

/** Writes the feed unless it is there, and returns its path. A broken-off run leaves no file of that name. */
export function generateFeed(parameters: FeedParameters, folder = DATA_FOLDER): string {
  const { rows, seed } = parameters;
  const target = join(folder, `orders-v${VERSION}-${rows}-${seed}.ndjson`);
  if (existsSync(target)) return target;
  mkdirSync(folder, { recursive: true });
  const unfinished = `${target}.${process.pid}.part`;
  writeFeed(openSync(unfinished, 'w'), parameters);
  renameSync(unfinished, target);
  return target;
}

function writeFeed(file: number, { rows, seed }: FeedParameters): void {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const nextLine = changeLines(rows, seed);
  let used = 0;
  for (let i = 0; i < rows; i++) {
    // Latin-1 is the fastest way from a string to bytes; the one non-ASCII word already stands as its UTF-8 bytes.
    used += chunk.write(nextLine(i), used, 'latin1');
    if (used > CHUNK_BYTES - LINE_BYTES_MAX) used = flush(file, chunk, used);
  }
  flush(file, chunk, used);
  closeSync(file);
}

function flush(file: number, chunk: Buffer, length: number): 0 {
  for (let done = 0; done < length;) done += writeSync(file, chunk, done, length - done);
  return 0;
}

/** The table's rows by key, in columns: 10M changes hold 2.5M keys, and objects would take a gigabyte. */
interface Orders {
  readonly customer: Uint32Array;
  readonly status: Uint8Array;
  readonly cents: Uint32Array;
  readonly note: Uint32Array;
  readonly quantity: Uint8Array;
  readonly updatedMs: Float64Array;
}

function changeLines(rows: number, seed: number): (i: number) => string {
  const random = generator(seed);
  const keysMax = Math.ceil(rows * 0.26) + 1000;
  const orders = emptyOrders(keysMax);
  const live = new Uint32Array(keysMax);
  const nextSource = binlog(random);
  let liveCount = 0;
  let keys = 0;
  let deletedKey = 0;

  function insert(ms: number): { key: number; before: string; after: string } {
    const reused = deletedKey !== 0 && random() < 1 / 64;
    const key = reused ? deletedKey : ++keys;
    if (reused) deletedKey = 0;
    live[liveCount++] = key;
    orders.customer[key] = 1 + Math.floor(random() * 200_000);
    orders.status[key] = 0;
    change(orders, key, ms, random);
    return { key, before: 'null', after: image(orders, key) };
  }

  function update(ms: number): { key: number; before: string; after: string } {
    const key = live[zipf(random(), liveCount)] ?? 0;
    const before = image(orders, key);
    change(orders, key, ms, random);
    return { key, before, after: image(orders, key) };
  }

  function remove(): { key: number; before: string; after: string } {
    const slot = Math.floor(random() * liveCount);
    const key = live[slot] ?? 0;
    live[slot] = live[--liveCount] ?? 0;
    deletedKey = key;
    return { key, before: image(orders, key), after: 'null' };
  }

  return (i) => {
    const ms = START_MS + Math.floor(i / CHANGES_PER_MS);
    const dice = liveCount === 0 ? 0 : random();
    const op = dice < 0.25 ? 'c' : dice < 0.9 ? 'u' : 'd';
    const { before, after } = op === 'c' ? insert(ms) : op === 'u' ? update(ms) : remove();
    return `{"before":${before},"after":${after},"source":${nextSource(ms)},"op":"${op}","ts_ms":${ms + 3}}\n`;
  };
}

function emptyOrders(keysMax: number): Orders {
  return {
    customer: new Uint32Array(keysMax),
    status: new Uint8Array(keysMax),
    cents: new Uint32Array(keysMax),
    note: new Uint32Array(keysMax),
    quantity: new Uint8Array(keysMax),
    updatedMs: new Float64Array(keysMax),
  };
}

/** An update moves the status on, and now and then the amount, the note or the quantity. */
function change(orders: Orders, key: number, ms: number, random: () => number): void {
  const isNew = orders.updatedMs[key] === 0;
  orders.status[key] = ((orders.status[key] ?? 0) + 1) % STATUSES.length;
  if (isNew || random() < 0.3) orders.cents[key] = Math.floor(random() * 10_000_000);
  if (isNew || random() < 0.2) orders.note[key] = Math.floor(random() * 8_000);
  if (isNew || random() < 0.2) orders.quantity[key] = 1 + Math.floor(random() * 20);
  orders.updatedMs[key] = ms;
}

function image(orders: Orders, key: number): string {
  const cents = orders.cents[key] ?? 0;
  const fraction = cents % 100;
  const note = orders.note[key] ?? 0;
  return (
    `{"id":${key},"customer_id":${orders.customer[key]},"status":"${STATUSES[orders.status[key] ?? 0]}",` +
    `"amount":${(cents - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction},` +
    `"note":"${WORDS[note % WORDS.length]} ${note}","qty":${orders.quantity[key]},"updated_at":${orders.updatedMs[key]}}`
  );
}

/** Source blocks with a rising position: a log event holds one to three rows, a log file about 100 MB. */
function binlog(random: () => number): (ms: number) => string {
  let file = 1;
  let position = 157;
  let row = -1;
  let rowsLeft = 1 + Math.floor(random() * 3);
  let head = sourceHead(file);
  return (ms) => {
    if (rowsLeft-- === 0) {
      rowsLeft = Math.floor(random() * 3);
      row = -1;
      position += 300 + Math.floor(random() * 200);
    }
    if (position > BINLOG_BYTES_MAX) {
      head = sourceHead(++file);
      position = 157;
    }
    row++;
    return (
      `{"connector":"mysql","ts_ms":${ms},"db":"shop","table":"orders",` +
      `${head},"pos":${position},"row":${row}}`
    );
  };
}

function sourceHead(file: number): string {
  return `"file":"binlog.${String(file).padStart(6, '0')}"`;
}

/** A rank below `count` with P(rank) ~ 1 / (rank + 1): the logarithm of such a rank is uniform. */
function zipf(uniform: number, count: number): number {
  return Math.min(count - 1, Math.floor(Math.exp(uniform * Math.log(count + 1))) - 1);
}

/** Uniform in [0, 1), 32 bits a draw (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
    },
  });
  console.log(generateFeed({ rows: Number(values.rows), seed: Number(values.seed) }));
}

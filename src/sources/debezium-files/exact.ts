/** The slow, exact way from lines to the flat shape of `landing.ts`: for lines that the engine refuses or may round. */
import { readLine, type Envelope, type LineLimits } from '../../codecs/debezium-line.ts';
import type { Rejected } from '../../model/change.ts';
import { createTextTable } from '../../sql/append.ts';
import type { Database } from '../../sql/database.ts';
import { id, join, sql, type Sql } from '../../sql/sql.ts';
import { flatColumns, orderFields, orderOf, originOf, type Shape } from './landing.ts';
import type { Line } from './lines.ts';
import { tableName, type TableChoice } from './tables.ts';

export interface ExactCounts {
  tombstones: number;
  messages: number;
  unmapped: number;
}

/** Gathers lines one by one; `table` turns them into a relation. */
export class ExactLines {
  readonly counts: ExactCounts = { tombstones: 0, messages: 0, unmapped: 0 };
  readonly rejected: Rejected[] = [];
  readonly #shape: Shape;
  readonly #choice: TableChoice;
  readonly #limits: LineLimits;
  readonly #rows: (string | null)[][] = [];

  readonly #schemaId: (schema: string) => string;

  /** @param schemaId a number, as text, for the text of a schema part; the same for the same text */
  constructor(
    shape: Shape,
    choice: TableChoice,
    limits: Omit<LineLimits, 'isFileStart'>,
    schemaId: (schema: string) => string,
  ) {
    this.#shape = shape;
    this.#choice = choice;
    this.#limits = { ...limits, isFileStart: false };
    this.#schemaId = schemaId;
  }

  get rows(): number {
    return this.#rows.length;
  }

  /** Whether the line became a row (with `ordinal`) of the relation. */
  add(file: string, line: Line, ordinal: number): boolean {
    const result = readLine(line.bytes, { ...this.#limits, isFileStart: line.byte === 0 });
    if (result.kind === 'tombstone') this.counts.tombstones += 1;
    else if (result.kind === 'other') this.counts.messages += 1;
    else if (result.kind === 'error') {
      this.#reject(file, line, result.code, result.message, null, null);
    } else {
      const envelope = result.envelope;
      if (envelope.op === 'm') this.counts.messages += 1;
      else return this.#addEnvelope(file, line, ordinal, envelope);
    }
    return false;
  }

  #addEnvelope(file: string, line: Line, ordinal: number, envelope: Envelope): boolean {
    const table = tableName(envelope.table) ?? this.#choice.only?.table ?? null;
    if (table === null) {
      this.#reject(
        file,
        line,
        'E_ENVELOPE_TABLE',
        'the envelope does not name its table, and more than one is configured',
        null,
        null,
      );
      return false;
    }
    if (this.#choice.of(table) === null) {
      this.counts.unmapped += 1;
      return false;
    }
    const schemaId = envelope.schema === null ? null : this.#schemaId(envelope.schema);
    this.#rows.push(rowOf(this.#shape, envelope, table, ordinal, schemaId));
    return true;
  }

  #reject(
    file: string,
    line: Line,
    code: Rejected['code'],
    message: string,
    table: string | null,
    key: string | null,
  ): void {
    const place = { file, line: line.line, byte: line.byte };
    this.rejected.push({ code, message, table, key, place, bytes: Buffer.from(line.bytes) });
  }

  /** Makes the relation of everything gathered; the caller drops it. */
  async table(db: Database): Promise<Sql> {
    const staging = db.name('exact');
    const names = [
      'ord',
      'op',
      'has_after',
      'has_before',
      'ts',
      'tbl',
      'schema_hash',
      'absent',
      ...extras(this.#shape).map((name) => `s_${name}`),
      ...images(this.#shape),
    ];
    await createTextTable(db, staging, names, this.#rows);
    const table = db.name('landed');
    const field = (name: string): Sql => {
      const type = orderFields(this.#shape.connector).find(([n]) => n === name)?.[1] ?? 'VARCHAR';
      return type === 'BIGINT' ? sql`TRY_CAST(${id(`s_${name}`)} AS BIGINT)` : id(`s_${name}`);
    };
    const columns = flatColumns(this.#shape).map(([name]) => {
      if (name === 'seq') return sql`${orderOf(this.#shape.connector, field)} AS seq`;
      if (name === 'origin') return sql`${originOf(this.#shape.connector, field)} AS origin`;
      if (name === 'schema_hash') return sql`schema_hash::UBIGINT AS schema_hash`;
      if (name === 'absent') return sql`CAST("absent"::JSON AS VARCHAR[]) AS "absent"`;
      if (name === 'ord' || name === 'ts')
        return sql`TRY_CAST(${id(name)} AS BIGINT) AS ${id(name)}`;
      if (name === 'has_after' || name === 'has_before')
        return sql`${id(name)}::BOOLEAN AS ${id(name)}`;
      return id(name);
    });
    await db.run(
      sql`CREATE OR REPLACE TABLE ${id(table)} AS SELECT ${join(columns)} FROM ${id(staging)}; DROP TABLE ${id(staging)}`,
    );
    return id(table);
  }
}

const extras = (shape: Shape): string[] => orderFields(shape.connector).map(([name]) => name);
const images = (shape: Shape): string[] =>
  flatColumns(shape)
    .slice(10)
    .map(([name]) => name);

/** JSON text of the columns that the before image lacks; an empty list where it lacks none. */
function absentNames(shape: Shape, { before }: Envelope): string | null {
  return before === null
    ? null
    : JSON.stringify(shape.beforeNames.filter((name) => !before.has(name)));
}

function rowOf(
  shape: Shape,
  envelope: Envelope,
  table: string,
  ordinal: number,
  schemaId: string | null,
): (string | null)[] {
  return [
    String(ordinal),
    envelope.op,
    String(envelope.after !== null),
    String(envelope.before !== null),
    envelope.tsMs,
    table,
    schemaId,
    absentNames(shape, envelope),
    ...extras(shape).map((name) => envelope.source.get(name) ?? null),
    ...shape.names.map((name) => envelope.after?.get(name) ?? null),
    ...shape.beforeNames.map((name) => envelope.before?.get(name) ?? null),
  ];
}

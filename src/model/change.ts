import type { Sql } from '../sql/sql.ts';
import type { ErrorCode } from './errors.ts';
import type { TargetName } from './target-name.ts';
import type { ColumnType, Encoding } from './types.ts';

/** Resume token of a source; only the source that made it looks inside. */
export type Position = string;

/** Where a line of a feed stands. `line` from 1, `byte` of its first byte from 0. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly byte: number;
}

/** A record that cannot be represented, with its very bytes. */
export interface Rejected {
  readonly code: ErrorCode;
  readonly message: string;
  readonly table: string | null;
  /** Text of the key columns as the feed has them, joined by `,`; null when the line cannot be read. */
  readonly key: string | null;
  readonly place: Place;
  readonly bytes: Uint8Array;
  /** JSON list of the texts of the target's key, where it can be told: what later changes of the key are known by. */
  readonly targetKey?: string | null;
}

/** A column of a source table. `after` and `before` are VARCHAR expressions over the view's relation. */
export interface SourceColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly from: Encoding | undefined;
  readonly after: Sql;
  readonly before: Sql;
}

/**
 * The changes of one source table in one batch, still as the feed's text. Stages rewrite the expressions; nothing is
 * computed before the engine puts the whole chain into one statement.
 */
export interface SourceView {
  /** `db.table`, or `schema.table` where the source has schemas. */
  readonly table: string;
  /** What stands after FROM. */
  readonly from: Sql;
  /** Rows of this table; null: every row of `from` is read, and `isOwn` tells. */
  readonly where: Sql | null;
  /** BOOLEAN: whether a row belongs to this table; null: all that are read do. */
  readonly isOwn: Sql | null;
  /** BIGINT place of a row in the batch, ascending; null: the row number in reading order. */
  readonly ordinal: Sql | null;
  /** TRUE where the row must be read again exactly: its envelope is odd or belongs to no known table. */
  readonly isOdd: Sql;
  /** VARCHAR: c, r, u, d or t. */
  readonly op: Sql;
  readonly hasBefore: Sql;
  /** VARCHAR[]: columns that the before image lacks, where that is known; null elsewhere. */
  readonly absent: Sql;
  /** BIGINT epoch milliseconds of the source's clock; may be null. */
  readonly tsMs: Sql;
  /** HUGEINT order of the change in its source; null where the source gives none. */
  readonly order: Sql | null;
  /** VARCHAR: orders compare only within one origin (server). */
  readonly origin: Sql | null;
  readonly columns: readonly SourceColumn[];
  readonly key: readonly string[];
}

/** What a cast yields: see `sql/casts.ts`. A text is bad exactly where it is not null and its value is. */
export interface Image {
  readonly value: Sql;
  readonly code: Sql;
  readonly inexact: Sql | null;
  readonly type: ColumnType;
}

export interface TargetColumn {
  readonly name: string;
  /** Name of the source's column in messages. */
  readonly source: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly isKey: boolean;
  /** VARCHAR over the view's relation. Key columns: of the row that the change is about, so the before image's for a delete. */
  readonly text: Sql;
  /** Key columns: VARCHAR of the key before an update; null for the others. */
  readonly oldText: Sql | null;
  /** Makes the typed value from a plain reference to `text`. */
  readonly cast: (text: Sql) => Image;
  /** The same for the usual forms of values only: gives null for other texts, in a far smaller expression. */
  readonly quick: (text: Sql) => Image;
  /** What tells whether an update changed the column; null where nobody asks. */
  readonly compared: Comparison | null;
}

/** Expressions over the view's relation. */
export interface Comparison {
  /** VARCHAR: what `text` would have been before the change. */
  readonly before: Sql;
  /** BOOLEAN: the before image is known to lack the column, which then counts as changed. */
  readonly isAbsent: Sql;
  /** BOOLEAN: both images give null, or one gives none: only the line itself can tell. */
  readonly isUnsure: Sql;
}

/** A predicate over the typed columns of the source. */
export interface Filter {
  /** The columns that it names. */
  readonly columns: readonly SourceColumn[];
  /** BOOLEAN, or NULL: what it says of an image, given plain references to the texts of `columns`. */
  readonly holds: (texts: readonly Sql[]) => Sql;
}

/** One source table on its way into one target. */
export interface TargetView {
  readonly source: SourceView;
  readonly target: TargetName;
  /** The ontology's object type; null: a plain mirror, which has no events. */
  readonly objectType: string | null;
  /** In the order of the target's columns. */
  readonly columns: readonly TargetColumn[];
  /** Whether a row belongs to the target: all must hold. */
  readonly filters: readonly Filter[];
}

/** What a change does to its target. */
export const KIND = { create: 1, update: 2, delete: 3, truncate: 4, silentDelete: 5 } as const;

export interface ChangeColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly isKey: boolean;
  /** Names of the relation's columns. */
  readonly field: string;
  readonly oldField: string | null;
  readonly changedField: string | null;
}

/**
 * Typed changes of one source table for one target: a table `relation` with the columns `kind` ({@link KIND}), `ts`
 * BIGINT, `seq` HUGEINT and `origin` VARCHAR (order in the source, where there is one), `moved` BOOLEAN (the key changed), and
 * the fields of `columns`. Every row is good: bad ones have left.
 */
export interface Changes {
  readonly relation: string;
  /** BIGINT place of a row in the batch, unique within the source table: `rowid` or a column. */
  readonly ord: Sql;
  readonly source: string;
  readonly target: TargetName;
  readonly objectType: string | null;
  readonly columns: readonly ChangeColumn[];
  readonly rows: number;
  readonly hasMoves: boolean;
  readonly hasOrder: boolean;
  /** `ord` of the last truncate; null: none. */
  readonly truncatedAt: number | null;
}

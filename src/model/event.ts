/** Values of an event: longs are numbers, or bigints beyond 2^53; decimals, instants and bytes (base64) are strings. */
export type EventValue = string | number | bigint | boolean | null;

/** What happened to an instance of the ontology. */
export interface InstanceEvent {
  /** The same when the event is delivered again after a crash. */
  readonly id: string;
  readonly operation: 'create' | 'update' | 'delete';
  readonly object_type_rid: string;
  readonly instance_rid: string;
  /** All of them on create, nulls included; the changed ones on update; none on delete. */
  readonly properties: Readonly<Record<string, EventValue>>;
  /** Epoch milliseconds of the source's clock. */
  readonly source_timestamp: number | null;
  readonly source_table: string;
  /** The whole instance without its rid; null on delete. */
  readonly after: Readonly<Record<string, EventValue>> | null;
  readonly position: { readonly file: string; readonly line: number; readonly byte: number };
}

export type EventListener = (event: InstanceEvent) => void | Promise<void>;

import type { ScriptedLine } from './scripted-source.ts';

/** A line of a script as a Debezium envelope of PostgreSQL; a bad one is cut. @param schema its schema part, when it has one */
export function envelopeText(line: ScriptedLine, schema?: object): string {
  if ('bad' in line) return '{"op":"c","after":{"id":';
  const { table, op, before, after, seq } = line;
  const [owner = '', name = ''] = table.split('.');
  const source = {
    connector: 'postgresql',
    db: owner,
    schema: owner,
    table: name,
    ts_ms: seq,
    lsn: seq,
  };
  const payload = { before, after, source, op, ts_ms: seq };
  return JSON.stringify(schema === undefined ? payload : { schema, payload });
}

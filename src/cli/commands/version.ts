import { EXIT, type ExitCode } from '../exit-code.ts';
import { printObject } from '../print-rows.ts';
import type { Terminal } from '../terminal.ts';
import { packageVersion } from '../version.ts';

export async function versionCommand(terminal: Terminal): Promise<ExitCode> {
  const version = packageVersion();
  const engine =
    terminal.output === 'table' ? null : (await import('../engine-version.ts')).engineVersion();
  const { node } = process.versions;
  const platform = `${process.platform}-${process.arch}`;
  await printObject(terminal, { version, node, duckdb: engine, platform }, () => version);
  return EXIT.ok;
}

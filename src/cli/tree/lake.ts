/** Commands that read the tables on the lake: query and catalog. */
import type { Command } from 'commander';
import { DEFAULT_PIPELINE, withExamples, type Does } from './does.ts';

/** Which warehouse to read. */
export interface WarehouseOptions {
  readonly pipeline?: string;
  readonly warehouse?: string;
}

const onWarehouse = (command: Command): Command =>
  command
    .argument('[pipeline]', `the pipeline whose warehouse to read (default: "${DEFAULT_PIPELINE}")`)
    .option('-p, --pipeline <file>', 'the same as an option')
    .option('--warehouse <dir>', 'the warehouse itself, without a pipeline file');

export function addLakeCommands(program: Command, does: Does): void {
  program.commandsGroup('Tables:');
  withExamples(
    onWarehouse(
      program
        .command('query')
        .summary('read tables with SQL')
        .description(
          'Runs one SELECT (or WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN) over the tables of a warehouse, deletes applied. A table is called ns.t, or t where only one has that name. Longs and decimals keep all their digits.',
        )
        .argument('<sql>', 'the query; - reads it from stdin'),
    )
      .option(
        '--at <when>',
        'an earlier state: a snapshot id, or a time such as 2026-01-31T12:00:00Z',
      )
      .action(
        does(
          async (
            terminal,
            options: WarehouseOptions & { at?: string },
            text: string,
            path?: string,
          ) => {
            const { queryCommand } = await import('../commands/query.ts');
            return await queryCommand(text, { ...options, path }, terminal);
          },
        ),
      ),
    'lakeward query "SELECT count(*) FROM shop.orders"',
    'lakeward query "FROM orders" pipeline.yaml --at 2026-01-31T12:00:00Z -o csv',
  );
}

export function addCatalogCommand(program: Command, does: Does): void {
  const catalog = program
    .command('catalog')
    .summary('look at tables, snapshots and files')
    .description('Shows what the warehouse holds.');
  onWarehouse(
    catalog
      .command('tables')
      .description('Lists the tables: rows, files, bytes, current snapshot.'),
  ).action(
    does(async (terminal, options: WarehouseOptions, path?: string) => {
      const { tablesCommand } = await import('../commands/catalog.ts');
      return await tablesCommand({ ...options, path }, terminal);
    }),
  );
  onWarehouse(
    catalog
      .command('snapshots')
      .description(
        'Lists the snapshots of a table, newest first, with the checkpoint and the position that each one carries.',
      )
      .argument('<table>', 'ns.t, or t where only one has that name'),
  ).action(
    does(async (terminal, options: WarehouseOptions, table: string, path?: string) => {
      const { snapshotsCommand } = await import('../commands/catalog.ts');
      return await snapshotsCommand(table, { ...options, path }, terminal);
    }),
  );
  onWarehouse(
    catalog
      .command('files')
      .description('Lists the data and delete files of a snapshot.')
      .argument('<table>', 'ns.t, or t where only one has that name'),
  )
    .option('--at <when>', 'an earlier state: a snapshot id, or a time')
    .action(
      does(
        async (
          terminal,
          options: WarehouseOptions & { at?: string },
          table: string,
          path?: string,
        ) => {
          const { filesCommand } = await import('../commands/catalog.ts');
          return await filesCommand(table, { ...options, path }, terminal);
        },
      ),
    );
}

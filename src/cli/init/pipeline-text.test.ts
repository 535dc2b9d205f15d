import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadPipeline } from '../../config/load.ts';
import { pipelineText, PLACEHOLDER } from './pipeline-text.ts';

async function load(text: string): Promise<Awaited<ReturnType<typeof loadPipeline>>> {
  const dir = await mkdtemp(join(tmpdir(), 'lakeward-text-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, 'pipeline.yaml'), text);
  return await loadPipeline(join(dir, 'pipeline.yaml'));
}

test('the example is valid, and means what it says', async () => {
  const { spec, notices } = await load(
    pipelineText({ pipelineId: 'p', feed: './feed/*.jsonl', tables: [PLACEHOLDER] }),
  );
  expect(notices).toEqual([]);
  expect(spec.source.tables).toEqual([
    {
      table: 'shop.orders',
      primary_key: ['id'],
      columns: {
        id: { type: 'long' },
        customer: { type: 'string' },
        total: { type: 'decimal(18,2)' },
        paid_at: { type: 'timestamptz', from: 'epoch_ms' },
      },
    },
  ]);
});

test('names and types survive YAML, whatever they are', async () => {
  const names = [
    'yes',
    '1',
    'a: b',
    '#c',
    "it's",
    'a,b]',
    '"q"',
    '*x',
    'é 😀',
    '- d',
    'null',
    '{e}',
    'tab\t',
    ' f ',
  ];
  const columns = [
    ...names.map((name) => ({ name, type: 'string', nullable: true }) as const),
    { name: 'price', type: 'decimal(10,4)', from: 'base64', nullable: true } as const,
  ];
  const table = { ...PLACEHOLDER, name: "o'hara.t,[x]", columns, key: ['a,b]', 'yes', "it's"] };
  const { spec } = await load(
    pipelineText({ pipelineId: '123', feed: "./it's: a feed #1.jsonl", tables: [table] }),
  );
  expect(spec.pipeline_id).toBe('123');
  expect(spec.source.path).toMatch(/it's: a feed #1\.jsonl$/u);
  const [found] = spec.source.tables ?? [];
  expect(found?.table).toBe(table.name);
  expect(found?.primary_key).toEqual(table.key);
  expect(new Set(Object.keys(found?.columns ?? {}))).toEqual(
    new Set(columns.map(({ name }) => name)),
  );
  expect(found?.columns?.['price']).toEqual({ type: 'decimal(10,4)', from: 'base64' });
});

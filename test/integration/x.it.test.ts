import { expect, test } from 'vitest';
import { judgeOrSkip } from '../kit/judges/judge-or-skip.ts';
import { pipelineCase } from '../scenarios/pipeline-case.ts';
import { create, update, remove } from '../scenarios/envelopes.ts';

test('x', async (context) => {
  const spark = await judgeOrSkip('spark', context);
  const flink = await judgeOrSkip('flink', context);
  const duckdb = await judgeOrSkip('duckdb', context);
  const py = await judgeOrSkip('pyiceberg', context);
  const columns = { id: 'long', b:'boolean', i:'int', f:'float', d:'double', n9:'decimal(9,2)', n18:'decimal(18,6)', n38:'decimal(38,10)', day:'date', tm:'time', ts:'timestamp', tz:'timestamptz', s:'string', u:'uuid', x:{type:'binary',from:'base64'}, fx:{type:'fixed[5]',from:'base64'} };
  await using c = await pipelineCase({source:{tables:[{table:'shop.t',primary_key:['id'],columns}]}});
  const max = `{"id":9223372036854775807,"b":true,"i":2147483647,"f":3.4028234663852886e38,"d":1.7976931348623157e308,"n9":9999999.99,"n18":"999999999999.999999","n38":9999999999999999999999999999.9999999999,"day":"9999-12-31","tm":"23:59:59.999999","ts":"9999-12-31T23:59:59.999999","tz":"9999-12-31T23:59:59.999999Z","s":"😀\u{10FFFF}${'ü'.repeat(20)}","u":"ffffffff-ffff-ffff-ffff-ffffffffffff","x":"${Buffer.alloc(20,255).toString('base64')}","fx":"${Buffer.alloc(5,255).toString('base64')}"}`;
  const min = `{"id":-9223372036854775808,"b":false,"i":-2147483648,"f":-1e-45,"d":-5e-324,"n9":-9999999.99,"n18":"-999999999999.999999","n38":-9999999999999999999999999999.9999999999,"day":"0001-01-01","tm":"00:00:00","ts":"0001-01-01T00:00:00","tz":"0001-01-01T00:00:00Z","s":"","u":"00000000-0000-0000-0000-000000000000","x":"","fx":"${Buffer.alloc(5,0).toString('base64')}"}`;
  await c.feed('a.jsonl', [create(max), create(min), create('{"id":0,"f":"NaN","d":"-Infinity"}'), create('{"id":1,"f":-0.0,"d":-0.0,"tm":"10:00:00.123"}')]);
  console.log(await c.run());
  console.log(await c.deadLetters());
  const wh = c.path('warehouse');
  for (const [name, f] of Object.entries({
    own: () => c.rows('shop.t'), spark: () => spark.read(wh,'shop.t'), flink: () => flink.read(wh,'shop.t'), duckdb: () => duckdb.read(wh+'/shop/t'), py: () => py.scan(wh+'/shop/t')
  })) { try { const r: any = await f(); console.log(name); for (const row of r.rows ?? r) console.log(JSON.stringify(row)); } catch (e) { console.log(name, (e as any).chain ?? e); } }
});

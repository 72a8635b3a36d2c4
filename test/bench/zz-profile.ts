import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../src/operations/reset/reset.ts';
import { openPostgresBench } from '../helpers/postgres/postgres-bench.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';

const MB = Number(process.argv[2] ?? 100);
const rows = Math.round((MB * 1e6) / 100 / 165);
await using server = await openPostgresBench(
  Array.from(
    { length: 100 },
    (_, at) => `CREATE TABLE t_${at} (id integer PRIMARY KEY, amount integer, note text);
      INSERT INTO t_${at} SELECT i, i % 1000, repeat(md5(i::text), 3) FROM generate_series(1, ${rows}) i`,
  ),
);
let log: [number, string][] = [];
const settings = {
  working_directory: server.folder + '/w2',
  targets: { app: { snapshot: { src_url: server.url('bench'), dst_url: server.url('copy') } } },
};
const base = testContext({ settings });
const context = {
  ...base,
  report: (e: any) => {
    log.push([
      performance.now(),
      e.event +
        ' ' +
        (e.step ?? '') +
        ' ' +
        String(e.statement ?? e.state ?? e.message ?? '')
          .replace(/\s+/g, ' ')
          .slice(0, 110),
    ]);
  },
};
await build(context, { target: 'app' });
await applyLoad(context, await planLoad(context, { target: 'app', keepBase: true }));
for (let round = 0; round < 3; round += 1) {
  for (let t = 0; t < 5; t += 1)
    await server.sql(
      'copy',
      `UPDATE t_${t * 7} SET amount = amount + 1 WHERE id % ${Math.floor(rows / 1000)} = ${round}`,
    );
  log = [];
  const a = performance.now();
  const planned = await planReset(context, { target: 'app', undo: false });
  const b = performance.now();
  const n = log.length;
  const result = await applyReset(context, planned);
  const c = performance.now();
  console.log(result.way, planned.plan.way_reason, 'plan', Math.round(b - a), 'apply', Math.round(c - b));
  if (round === 2) {
    let last = b;
    for (const [at, text] of log.slice(n)) {
      console.log(Math.round(at - last), text);
      last = at;
    }
    console.log(Math.round(c - last));
  }
}

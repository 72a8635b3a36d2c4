import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithPostgres, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Tool, toolIn } from '../../helpers/terminal/tool-process.ts';
import { trials } from '../../helpers/trials.ts';

const FULL = process.env.TEST_FULL === '1';
const STEPS = FULL ? ['prepare', 'restore', 'index', 'check', 'base', 'swap'] : ['restore'];
const part = trials('kills/difference-postgres');

const FILL = [
  'CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL)',
  'INSERT INTO item SELECT i, md5(i::text) FROM generate_series(1, 20000) i',
  'CREATE INDEX ON item (name)',
  'CREATE TABLE change (item integer REFERENCES item, at date)',
  "INSERT INTO change SELECT i, '2026-01-01' FROM generate_series(1, 5000) i",
];
const LOAD_OLDER = ['load', 'app', '1', '--keep-base'];
const LOAD_NEWER = ['load', 'app', '0', '--keep-base'];

describeWithPostgres('a load of what differs from the base copy, when the whole process group is killed', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let tool: Tool;
  /** The content of both snapshots. */
  let older: string;
  let newer: string;

  beforeAll(async () => {
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    const [src_url, dst_url] = [server.url('source'), server.url('copy')];
    tool = await toolIn(folder.path, {
      working_directory: folder.path,
      targets: { app: { snapshot: { src_url, dst_url } } },
    });
    await server.create('source');
    await server.run('source', FILL);
    await tool.done(['build', 'app']);
    older = await server.content('source');
    // The rows of the one are replaced by their key, the other has none and is loaded whole.
    await server.run('source', [
      "UPDATE change SET at = '2026-02-02'",
      "UPDATE item SET name = name || '!' WHERE id % 50 = 0",
      'INSERT INTO item SELECT i, md5(i::text) FROM generate_series(20001, 20500) i',
    ]);
    await tool.done(['build', 'app']);
    newer = await server.content('source');
    await tool.done(LOAD_OLDER);
    const planned = await tool.start([...LOAD_NEWER, '--dry-run', '--json']).ended;
    expect(planned.output).toMatch(/"public.item","method":"rows"/);
    expect(planned.output).toMatch(/"public.change","method":"whole"/);
  }, 180_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  async function expectWhole(at: string): Promise<string> {
    const now = await server.content('copy');
    expect([older, newer].includes(now), `${at}: the destination is neither old nor new`).toBe(true);
    // The base copy is of what the destination contains, and partial work is swept.
    await tool.done(['reset', 'app']);
    expect(await server.content('copy'), at).toBe(now);
    expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
    return now;
  }

  it.each(STEPS)('leaves destination and base copy whole in step %s', async (step) => {
    await tool.done(LOAD_OLDER);
    const run = tool.start(LOAD_NEWER);
    await run.said(`"event":"step","step":"${step}"`);
    run.killGroup();
    await run.ended;
    await expectWhole(step);
  });

  it.skipIf(part.isEmpty)(part.title('leaves them whole'), { timeout: part.timeout }, async () => {
    await tool.done(LOAD_OLDER);
    const duration = await tool.done(LOAD_NEWER);
    const states = new Set<string>();
    let present = newer;
    await part.each(async ({ fraction }) => {
      if (present === newer) await tool.done(LOAD_OLDER);
      // Some moments come after the end, however busy the machine is.
      await tool.killedAfter(1.3 * duration * fraction, LOAD_NEWER);
      present = await expectWhole(`killed after ${fraction} of its time`);
      states.add(present);
    });
    // Moments that all fall before or after the swap would show nothing.
    if (part.isLong) expect(states).toEqual(new Set([older, newer]));
    await tool.done(LOAD_NEWER);
    expect(await server.content('copy')).toBe(newer);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../../src/operations/load/reset.ts';
import type { LoadResult } from '../../../src/results/load-results.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres-server.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const FULL = process.env.TEST_FULL !== undefined;
const MOMENTS = 30;

const FILL = `
  CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL); INSERT INTO item SELECT i, md5(i::text) FROM generate_series(1, 20000) i;
  CREATE INDEX ON item (name);
  CREATE TABLE change (item integer REFERENCES item, at date); INSERT INTO change SELECT i, '2026-01-01' FROM generate_series(1, 5000) i`;

describeWithPostgres('a load of what differs from the base copy, when the whole process group is killed', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  /** The content of both snapshots. */
  let older: string;
  let newer: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    await build(context(), { target: 'app' });
    await writeFile(
      join(folder.path, 'tool.yml'),
      `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${join(folder.path, 'work')}\ndefaults: {cpus: 2}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('copy')}\n`,
      { mode: 0o600 },
    );
    older = await server.dump('source');
    await server.psql('source', { sql: "UPDATE change SET at = '2026-02-02'" });
    await build(context(), { target: 'app' });
    newer = await server.dump('source');
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function context() {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    return testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } } });
  }

  function start(words: string[]): ChildProcess {
    const args = [MAIN, '--config', join(folder.path, 'tool.yml'), '--yes', '--json', ...words];
    return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  /** Until the program reports the step, or has ended. */
  async function reached(child: ChildProcess, step: string): Promise<void> {
    let output = '';
    for await (const chunk of child.stdout ?? []) {
      output += chunk;
      if (output.includes(`"event":"step","step":"${step}"`)) return;
    }
  }

  const ended = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve));

  async function load(request: Partial<LoadRequest>): Promise<LoadResult> {
    return applyLoad(context(), await planLoad(context(), { target: 'app', ...request }));
  }

  async function killAt(wait: (child: ChildProcess) => Promise<unknown>): Promise<void> {
    const child = start(['load', 'app', '--keep-base']);
    const left = ended(child);
    await Promise.race([left, wait(child)]);
    killGroup(child);
    await left;
  }

  async function expectWhole(at: string): Promise<'older' | 'newer'> {
    const now = await server.dump('copy');
    expect([older, newer].includes(now), `${at}: the destination is neither old nor new`).toBe(true);
    // The base copy is of what the destination contains, and partial work is swept.
    await applyReset(context(), await planReset(context(), { target: 'app' }));
    expect(await server.dump('copy'), at).toBe(now);
    expect((await server.databases()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
    return now === older ? 'older' : 'newer';
  }

  it.each(FULL ? ['prepare', 'restore', 'index', 'check', 'base', 'swap'] : ['restore'])(
    'leaves destination and base copy whole in step %s',
    async (step) => {
      await load({ snapshot: 1, keepBase: true });
      await killAt((child) => reached(child, step));
      await expectWhole(step);
    },
  );

  it.runIf(FULL)(
    `leaves them whole at ${MOMENTS} moments`,
    async () => {
      await load({ snapshot: 1, keepBase: true });
      const started = performance.now();
      expect(await ended(start(['load', 'app', '--keep-base']))).toBe(0);
      // Some moments come after the end, however busy the machine is.
      const duration = 1.3 * (performance.now() - started);
      const states: string[] = ['newer'];
      for (let moment = 0; moment < MOMENTS; moment += 1) {
        if (states.at(-1) === 'newer') await load({ snapshot: 1, keepBase: true });
        await killAt(() => setTimeout((duration * (moment + 0.5)) / MOMENTS));
        states.push(await expectWhole(`moment ${moment} of ${MOMENTS}`));
      }
      // Moments that all fall before or after the swap would show nothing.
      expect(new Set(states.slice(1))).toEqual(new Set(['older', 'newer']));
      expect(await load({})).toMatchObject({ difference: { method: 'difference' } });
      expect(await server.dump('copy')).toBe(newer);
    },
    900_000,
  );
});

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}

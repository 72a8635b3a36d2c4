import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build.ts';
import { stagingLeftovers } from '../../helpers/leftovers.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres-server.ts';
import { trials } from '../../helpers/trials.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const part = trials('kills/load-postgres');

/** Enough work that every step of a load takes its time. */
const FILL = `
  CREATE TABLE parent (id integer PRIMARY KEY, name text NOT NULL);
  INSERT INTO parent SELECT i, md5(i::text) FROM generate_series(1, 40000) i;
  CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL REFERENCES parent, note text);
  INSERT INTO child SELECT i, 1 + i % 40000, md5((i * 7)::text) FROM generate_series(1, 80000) i;
  CREATE INDEX ON child (parent_id);
  CREATE INDEX ON child (note)`;

describeWithPostgres('a load whose whole process group is killed', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    const settings = {
      working_directory: folder.path,
      targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
    };
    const context = testContext({ settings });
    await build(context, { target: 'app' });
    await server.psql('source', {
      sql: `UPDATE parent SET name = 'changed' WHERE id % 2 = 0; CREATE INDEX ON parent (name)`,
    });
    await build(context, { target: 'app' });
    await writeFile(
      join(folder.path, 'tool.yml'),
      `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${folder.path}\ndefaults: {cpus: 2}\ntargets:\n  app:\n    snapshot:\n      src_url: ${server.url('source')}\n      dst_url: ${server.url('copy')}\n`,
      { mode: 0o600 },
    );
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function startLoad(index: number): ChildProcess {
    const args = [MAIN, '--config', join(folder.path, 'tool.yml'), '--yes', '--json', 'load', 'app', String(index)];
    return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  /** Resolves with the first event: from here on the load works. */
  function begun(child: ChildProcess): Promise<void> {
    return new Promise((resolve) => child.stdout?.once('data', () => resolve()));
  }

  function ended(child: ChildProcess): Promise<number | null> {
    return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  it(part.title('leaves the destination as it was, or the finished new one, and the next run sweeps'), {
    timeout: part.timeout,
  }, async () => {
    expect(await ended(startLoad(1))).toBe(0);
    const older = await server.dump('copy');
    const timed = startLoad(0);
    const exitOfTimed = ended(timed);
    await begun(timed);
    const started = performance.now();
    expect(await exitOfTimed).toBe(0);
    const duration = performance.now() - started;
    const newer = await server.dump('copy');
    expect(newer).not.toBe(older);

    let present = newer;
    let finished = 0;
    let sweepable = 0;
    await part.each(async ({ fraction }) => {
      const [index, wanted] = present === newer ? [1, older] : [0, newer];
      const child = startLoad(index);
      const exit = ended(child);
      await begun(child);
      await Promise.race([exit, setTimeout(duration * fraction)]);
      killGroup(child);
      await exit;
      const now = await server.dump('copy');
      expect(
        [present, wanted].includes(now),
        `after ${fraction} of its time: the destination is neither old nor new`,
      ).toBe(true);
      if (now === wanted) finished += 1;
      sweepable += (await server.databases()).filter((name) => name.includes('.tool-new-')).length;
      present = now;
    });
    // Moments that all fall before the restore, or after the swap, would show nothing.
    if (part.count >= 4) expect(finished).toBeLessThan(part.count);
    if (part.count >= 4) expect(sweepable).toBeGreaterThan(part.count / 6);

    expect(await ended(startLoad(0))).toBe(0);
    expect(await server.dump('copy')).toBe(newer);
    expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'postgres', 'source']);
    expect(await stagingLeftovers(folder.path)).toEqual([]);
  });
});

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}

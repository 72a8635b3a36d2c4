import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listSnapshots } from '../../src/operations/snapshots.ts';
import { verify } from '../../src/operations/verify.ts';
import { describeWithPostgres } from '../helpers/postgres-server.ts';
import { MASK, type SanitizeFixture, startSanitizeFixture } from '../helpers/sanitize-fixture.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const MOMENTS = 20;

describeWithPostgres('a sanitization whose whole process group is killed', () => {
  let fixture: SanitizeFixture;

  beforeAll(async () => {
    fixture = await startSanitizeFixture();
    await fixture.reset();
    const { server } = fixture;
    await writeFile(
      join(fixture.directory(), 'tool.yml'),
      `secret_key: ${'ab'.repeat(16)}
working_directory: ${fixture.directory()}
targets:
  app:
    snapshot: {src_url: '${server.url('source')}'}
    sanitize: {dst_url: '${server.url('clean')}', override_query: "${MASK} SELECT pg_sleep(0.3)"}
`,
      { mode: 0o600 },
    );
  }, 60_000);

  afterAll(() => fixture?.stop());

  function start(): ChildProcess {
    const args = [MAIN, '--config', join(fixture.directory(), 'tool.yml'), '--yes', '--json', 'sanitize', 'app'];
    return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  /** Resolves with the first event: from here on it works. */
  function begun(child: ChildProcess): Promise<void> {
    return new Promise((resolve) => child.stdout?.once('data', () => resolve()));
  }

  function ended(child: ChildProcess): Promise<number | null> {
    return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  async function sanitizedSnapshots(): Promise<string[]> {
    const { snapshots } = await listSnapshots(fixture.contextOf(), 'app');
    return snapshots.filter(({ sanitized }) => sanitized).map(({ id }) => id);
  }

  /** Of the databases that are there under the name of the destination. */
  async function oldEmails(): Promise<string> {
    const there = (await fixture.server.databases()).includes('clean');
    const sql = "SELECT count(*) FROM person WHERE email LIKE '%real.example.org'";
    return there ? fixture.server.psql('clean', { sql }) : '0\n';
  }

  it(`publishes nothing at ${MOMENTS} moments, leaves the original whole, and the next run sweeps`, async () => {
    const timed = start();
    const exitOfTimed = ended(timed);
    await begun(timed);
    const started = performance.now();
    expect(await exitOfTimed).toBe(0);
    const duration = performance.now() - started;

    let published = await sanitizedSnapshots();
    expect(published).toHaveLength(1);
    let killed = 0;
    let sweepable = 0;
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const child = start();
      const exit = ended(child);
      await begun(child);
      await Promise.race([exit, setTimeout((duration * moment) / MOMENTS)]);
      killGroup(child);
      if ((await exit) === null) killed += 1;
      const now = await sanitizedSnapshots();
      expect(now, `moment ${moment}: one sanitized snapshot, the one before or the one after`).toHaveLength(1);
      if (now[0] !== published[0])
        expect(await verify(fixture.contextOf(), { target: 'app' })).toMatchObject({ ok: true });
      published = now;
      expect(await oldEmails(), `moment ${moment}: an original value is in the destination`).toBe('0\n');
      sweepable += (await fixture.server.databases()).filter((name) => name.includes('.tool-new-')).length;
    }
    // Moments that all fall before the work, or after it, would show nothing.
    expect(killed).toBeGreaterThan(MOMENTS / 2);
    expect(sweepable).toBeGreaterThan(MOMENTS / 6);

    expect(await ended(start())).toBe(0);
    expect(await fixture.server.databases()).toEqual(['clean', 'clean.tool-undo', 'postgres', 'source']);
    expect(await readdir(join(fixture.directory(), 'staging'))).toEqual([]);
    expect(await verify(fixture.contextOf(), { target: 'app', original: true })).toMatchObject({ ok: true });
  }, 400_000);
});

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}

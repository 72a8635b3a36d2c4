import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Tour } from '../../src/results/demo-results.ts';
import { eventProblems } from '../helpers/documents/json-contract.ts';
import { describeWithPostgres, eventually, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../helpers/processes/processes.ts';
import { PROGRAM } from '../helpers/program.ts';

/** The sample alone takes some ten seconds to make. */
const WHOLE_TOUR = 180_000;

/** Meant for other databases than the demo's. */
const HOSTILE = {
  PGSSLMODE: 'require',
  PGOPTIONS: '-c search_path=nowhere',
  TOOL_TARGETS__SHOP__SNAPSHOT__DST_URL: 'postgres://127.0.0.1:1/lost',
};

describeWithPostgres('tool demo without a terminal', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    folder = await temporaryFolder({ mode: 0o1777 });
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  /** In a process group of its own, with a temporary folder of its own. */
  function demo(...words: string[]) {
    return spawn(process.execPath, [PROGRAM, 'demo', ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, ...HOSTILE, TMPDIR: folder.path },
    });
  }

  async function expectNothingLeft(): Promise<void> {
    expect(await processesNaming(`${folder.path}/`)).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  }

  it(
    'builds, verifies, loads, undoes, sanitizes and makes a subset, tells each step, and leaves nothing',
    async () => {
      const child = demo('--json');
      const [output, errors, [exit]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
      expect({ exit, errors }).toEqual({ exit: 0, errors: '' });
      expect(output.trim().split('\n').flatMap(eventProblems)).toEqual([]);
      const events = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const steps = events.filter(({ event, state }) => event === 'step' && state === 'done').map(({ step }) => step);
      expect(steps.slice(0, 2)).toEqual(['server', 'sample']);
      expect(steps).toEqual(expect.arrayContaining(['dump', 'store', 'verify', 'restore', 'check', 'swap']));

      const { event, command, ...tour } = events.at(-1) as Tour & { event: string; command: string };
      expect({ event, command }).toEqual({ event: 'done', command: 'demo' });
      expect(tour.built).toMatchObject({ schemas: ['billing', 'public'] });
      expect(tour.built.rows).toBeGreaterThan(200_000);
      expect(tour.again.stored_bytes).toBeLessThan(tour.built.stored_bytes / 100);
      expect(tour.verified).toMatchObject({ ok: true, problems: [] });
      expect(tour.loaded).toMatchObject({ rows: tour.built.rows, undo_database: null });
      expect(tour.reloaded.undo_database).not.toBeNull();
      expect(tour.undone.destination).toBe(tour.reloaded.destination);
      expect(tour.sanitized).toMatchObject({ snapshot: { sanitized: true }, coverage: { findings: [] } });
      expect(tour.sanitized.coverage.tables).toContainEqual(
        expect.objectContaining({ name: 'public.customer', state: 'changed' }),
      );
      expect(tour.subset.rows).toBeLessThan(tour.built.rows / 10);
      expect(tour.subset.proof.every(({ orphans }) => orphans === 0)).toBe(true);
      expect(output).not.toMatch(/postgres:\/\/[^\s"@]*:[^\s"@]*@/);
      await expectNothingLeft();
    },
    WHOLE_TOUR,
  );

  const INTERRUPTIONS: { name: NodeJS.Signals; exit: number; whom: (child: ChildProcess) => number }[] = [
    { name: 'SIGTERM', exit: 143, whom: ({ pid = 0 }) => pid },
    // A terminal sends Ctrl-C to all programs in front.
    { name: 'SIGINT', exit: 130, whom: ({ pid = 0 }) => -pid },
  ];

  it.each(INTERRUPTIONS)(
    'leaves nothing when $name interrupts it, and exits with $exit',
    async ({ name, exit, whom }) => {
      const child = demo();
      const ended = once(child, 'exit');
      await errorsHold(child, 'Started PostgreSQL');
      process.kill(whom(child), name);
      expect(await ended).toEqual([exit, null]);
      await expectNothingLeft();
    },
  );

  it('takes its server along when its process group is killed; the next demo removes its folder', async () => {
    const killed = demo();
    const ended = once(killed, 'exit');
    await errorsHold(killed, 'Started PostgreSQL');
    process.kill(-(killed.pid ?? 0), 'SIGKILL');
    await ended;
    await eventually(async () => (await processesNaming(`${folder.path}/tool-postgres-`)).length === 0);
    expect(await readdir(folder.path)).toEqual([expect.stringMatching(`^tool-demo-${killed.pid}-`)]);

    // Other users can write into it, so that it is no folder of a demo of this user.
    const foreign = join(folder.path, 'tool-demo-4194999-abcdef');
    await mkdir(foreign);
    await chmod(foreign, 0o777);
    const next = demo();
    const over = once(next, 'exit');
    await errorsHold(next, 'Started PostgreSQL');
    process.kill(next.pid ?? 0, 'SIGTERM');
    await over;
    expect(await readdir(folder.path)).toEqual([basename(foreign)]);
    await rm(foreign, { recursive: true });
    await expectNothingLeft();
  });
});

/** Rejects, with what there was, when the stream ends before. */
async function errorsHold({ stderr }: ChildProcess, wanted: string): Promise<void> {
  let seen = '';
  for await (const chunk of stderr?.setEncoding('utf8').iterator({ destroyOnReturn: false }) ?? []) {
    seen += chunk;
    if (seen.includes(wanted)) return;
  }
  throw new Error(`"${wanted}" did not come: ${seen}`);
}

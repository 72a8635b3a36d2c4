import { beforeEach, expect, it } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { type Change, startSanitizeFixture } from '../helpers/databases/sanitize-fixture.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { runWith, type TestedRun } from '../helpers/terminal/cli-host.ts';

describeWithPostgres('tool sanitize', () => {
  const fixture = suiteResource(startSanitizeFixture);

  beforeEach(() => fixture.reset());

  function tool(words: string[], change?: Change): Promise<TestedRun> {
    return runWith(words, COMMANDS, {
      clock: () => new Date(),
      openContext: async ({ report, signal }) => ({ ...fixture.contextOf(change), report, signal }),
    });
  }

  function lastLine(text: string): Record<string, unknown> {
    return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
  }

  async function kinds(): Promise<boolean[]> {
    return (await listSnapshots(fixture.contextOf(), 'app')).snapshots.map(({ sanitized }) => sanitized);
  }

  it('prints findings first, then the change of each table', async () => {
    const { exit, stdout } = await tool(['sanitize', 'app'], { query: "UPDATE person SET first_name = 'X'" });
    expect(exit).toBe(0);
    const lines = stdout.split('\n');
    const columns = lines.findIndex((line) => /^COLUMN +STATE +VALUES +LOOKS LIKE +BEFORE +AFTER$/.test(line));
    const tables = lines.findIndex((line) => /^TABLE +CONTENT +ROWS BEFORE +AFTER$/.test(line));
    expect(lines[0]).toMatch(/^Sanitized snapshot .*: 2 of \d+ personal columns are unchanged$/);
    expect(stdout).toMatch(/^. public.person.email +unchanged +500 +e-mail address +s\*{5}/m);
    expect(stdout).toMatch(/^public.person +changed +500 +500$/m);
    expect(columns).toBeGreaterThan(0);
    expect(tables).toBeGreaterThan(columns);
  });

  it('prompts before it replaces a database, and changes nothing without a terminal', async () => {
    await fixture.server.createDatabase('clean');
    const refused = await tool(['sanitize', 'app']);
    expect(refused).toMatchObject({ exit: 5, stderr: expect.stringContaining('Replace database "clean"') });
    await fixture.expectNothingPublished(['clean', 'postgres', 'source']);
    expect(await tool(['sanitize', 'app', '--yes', '--no-undo'])).toMatchObject({ exit: 0 });
    expect(await fixture.server.databases()).toEqual(['clean', 'postgres', 'source']);
  });

  it('shows the query that won, its statements and the database with --dry-run, also when only reading', async () => {
    const { exit, stdout } = await tool(['sanitize', 'app', '--dry-run', '--read-only', '--json']);
    expect(exit).toBe(0);
    expect(lastLine(stdout)).toMatchObject({
      dry_run: true,
      plan: {
        query: { chosen_by: 'targets.app.sanitize.override_query', statements: [{ number: 1 }, { number: 2 }] },
        destination: { database: 'clean' },
      },
    });
    expect(await tool(['sanitize', 'app', '--read-only'])).toMatchObject({ exit: 5 });
    await fixture.expectNothingPublished();
  });

  it('is part of build when a query is configured, unless --no-sanitize', async () => {
    expect(await tool(['build', 'app', '--no-sanitize'])).toMatchObject({ exit: 0 });
    expect(await kinds()).toEqual([false, false]);
    const { exit, stdout } = await tool(['build', 'app', '--note', 'both', '--json']);
    expect(exit).toBe(0);
    expect(lastLine(stdout)).toMatchObject({
      command: 'build',
      snapshot: { index: 0, sanitized: false, note: 'both' },
      sanitized: { index: 0, sanitized: true, note: 'both' },
      coverage: { findings: [] },
    });
    expect(await kinds()).toEqual([true, false, false, false]);
  });

  it('a build with a failing query keeps the original and names the statement', async () => {
    const { exit, stderr } = await tool(['build', 'app'], { query: 'UPDATE nobody SET x = 1' });
    expect({ exit, stderr }).toMatchObject({ exit: 1, stderr: expect.stringContaining('statement 1 (line 1)') });
    expect(await kinds()).toEqual([false, false]);
  });
});

import { execFile } from 'node:child_process';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../helpers/processes/processes.ts';
import { PROGRAM } from '../helpers/program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

/** Alone on their page, or as the pane that has the keys. */
const SNAPSHOTS = /\d snapshots?(?:, \S+ \wB? local)?(?: ─╮)?$|no snapshots|❯ snapshots of \w+ ─/m;
const ONE_SNAPSHOT = /1 snapshot|❯ snapshots of \w+ ─+ 1,/;
const AS_BEFORE = { alternateScreen: false, cursorHidden: false, autowrap: true, bracketedPaste: false };

const SHOP = `
  CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL);
  INSERT INTO customer SELECT i, 'customer ' || i FROM generate_series(1, 2000) i`;

// In any database but its own, the first takes its time, and the second refuses.
const SLOW = `
  CREATE FUNCTION nap() RETURNS integer LANGUAGE sql AS
    $$ SELECT 1 FROM pg_sleep(CASE current_database() WHEN 'slow' THEN 0 ELSE 60 END) $$;
  CREATE MATERIALIZED VIEW napped AS SELECT public.nap()`;
const HOMESICK = `
  CREATE FUNCTION at_home() RETURNS integer LANGUAGE plpgsql AS
    $$ BEGIN IF current_database() <> 'homesick' THEN RAISE 'there is no place like home'; END IF; RETURN 1; END $$;
  CREATE MATERIALIZED VIEW house AS SELECT public.at_home()`;

describeWithPostgres('the screens on a real server', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let work: string;
  let terminal: TestTerminal;

  beforeAll(async () => {
    await build();
    folder = await temporaryFolder();
    server = await startPostgres();
    for (const [name, sql] of Object.entries({ shop: SHOP, slow: SLOW, homesick: HOMESICK })) {
      await server.createDatabase(name);
      await server.psql(name, { sql });
    }
  });

  beforeEach(async ({ task }) => {
    work = join(folder.path, task.id);
    await server.psql('postgres', { sql: 'DROP DATABASE IF EXISTS copy WITH (FORCE)' });
    await server.psql('postgres', { sql: 'DROP DATABASE IF EXISTS "copy.tool-undo" WITH (FORCE)' });
    await server.createDatabase('copy');
    await server.psql('copy', { sql: 'CREATE TABLE mine (id integer); INSERT INTO mine VALUES (7)' });
    await writeFile(join(folder.path, 'tool.yml'), configuration(), { mode: 0o600 });
  });

  afterEach(() => terminal.close());

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function configuration(): string {
    const target = (name: string) =>
      `  ${name}:\n    snapshot: { src_url: "${server.url(name)}", dst_url: "${server.url('copy')}" }\n`;
    return [
      `secret_key: ${'0123456789abcdef'.repeat(2)}\nworking_directory: ${work}\ntargets:\n`,
      ...['shop', 'slow', 'homesick'].map(target),
      '  away:\n    snapshot: { src_url: "postgres://nobody@127.0.0.1:1/away" }\n',
    ].join('');
  }

  /** The program, with all connections checked. */
  async function open(
    words: string[] = [],
    { environment, ...more }: Partial<Parameters<typeof openTerminal>[0]> = {},
  ): Promise<void> {
    terminal = openTerminal({
      command: [process.execPath, PROGRAM, ...words],
      cwd: folder.path,
      environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: work, ...environment },
      ...more,
    });
    await terminal.waitFor((screen) => screen.includes('✗ unreachable') && screen.split('✓ up').length === 4);
  }

  /** Ends at the snapshots of a target that has one. */
  async function openWithSnapshot(target: string): Promise<void> {
    await open();
    terminal.press('/', target, 'enter', 'b');
    await terminal.waitFor(`Built snapshot 0 of ${target}`);
    await openListed();
  }

  /** From the run to the list of targets, and into the one that is left in it; an Esc that is followed at once means Alt. */
  async function openListed(): Promise<void> {
    terminal.press('esc');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('enter');
    await terminal.waitFor(ONE_SNAPSHOT);
  }

  async function confirmLoad(): Promise<void> {
    terminal.press('l');
    await terminal.waitFor('❯ Cancel');
    terminal.press('down', 'enter');
  }

  async function expectUntouched(): Promise<void> {
    expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');
    await eventually(async () => (await server.databases()).join() === 'copy,homesick,postgres,shop,slow');
  }

  async function expectRestored(exitCode: number): Promise<void> {
    expect(await terminal.exited()).toMatchObject({ exitCode });
    await expect.poll(() => terminal.modes()).toEqual(AS_BEFORE);
  }

  it.each<Record<string, string>>([
    { NO_COLOR: '1' },
    { FORCE_COLOR: '1' },
    { NO_COLOR: '1', FORCE_COLOR: '1' },
    { NODE_OPTIONS: '--trace-warnings' },
  ])('draw nothing but frames with %o', async (environment) => {
    await open([], { environment });
    const lines = terminal.screen().split('\n');
    const end = lines.findIndex((line) => line.startsWith('╰'));
    expect(lines[0]).toMatch(/^╭─ tool ❯ targets ─.*╮$/);
    expect(lines.slice(1, end).filter((line) => !/^│.*│$/.test(line))).toEqual([]);
    expect(terminal.screen()).not.toMatch(/warning/i);
  });

  it('keep a log of their work with --debug, and draw nothing of it', async () => {
    await open(['--debug']);
    terminal.press('/', 'shop', 'enter', 'b');
    await terminal.waitFor('Built snapshot 0 of shop');
    const log = await readFile(join(work, 'logs', 'tool.log'), 'utf8');
    expect(log).toMatch(/ command_ended 0 after .*pg_dump .*--jobs/);
    expect(log).toMatch(/ step dump done after /);
    expect(log).not.toMatch(/ (statement|progress) /);
  });

  it.for([
    { columns: 80, rows: 24 },
    { columns: 200, rows: 50 },
  ])('are walked through by keys alone at $columns×$rows, and the databases follow', async (size) => {
    await open([], size);
    terminal.press('/', 's', 'h', 'o', 'p');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('enter', 'b');
    await terminal.waitFor('Built snapshot 0 of shop');
    await openListed();
    await terminal.waitFor(/❯ \w{8} {2}0 {2}just now .* 2,000/);

    terminal.press('l');
    await terminal.waitFor('❯ Cancel');
    await terminal.waitFor('copy will be replaced. The previous version is kept');
    terminal.press('down', 'enter');
    await terminal.waitFor('✓ copy replaced');
    await terminal.waitFor('✓ Switched copy to the restored database');
    expect(await server.dump('copy')).toBe(await server.dump('shop'));

    terminal.press('u');
    await terminal.waitFor('❯ Cancel');
    terminal.press('down', 'enter');
    await terminal.waitFor('✓ Restored the previous copy');
    await terminal.waitFor('✓ copy restored');
    await terminal.waitFor('Restored the previous postgres://');
    expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');

    terminal.press('esc');
    await terminal.waitFor('✓ copy replaced');
    terminal.press('esc');
    await terminal.waitFor(ONE_SNAPSHOT);
    terminal.press('v');
    await terminal.waitFor(/✓ Snapshot 0 of shop \(\w+ RAW\) is intact/);
    terminal.press('esc');
    await terminal.waitFor(ONE_SNAPSHOT);
    terminal.press('e');
    await terminal.waitFor('Note:');
    terminal.press('before the move', 'enter');
    await terminal.waitFor('Note saved');
    const [manifest = ''] = await readdir(join(work, 'snapshots', 'shop'));
    expect(await readFile(join(work, 'snapshots', 'shop', manifest), 'utf8')).toContain('before the move');

    terminal.press('d');
    await terminal.waitFor('❯ Cancel');
    terminal.press('down', 'enter');
    await terminal.waitFor('✓ Removed snapshot 0 of shop');
    expect(await readdir(join(work, 'snapshots', 'shop'))).toEqual([]);

    terminal.press('esc');
    await terminal.waitFor(SNAPSHOTS);
    terminal.press('esc');
    await terminal.waitFor(/❯ targets ─+ 1 of 4 targets/);
    terminal.press('q');
    await expectRestored(0);
    for (const line of [
      'Built snapshot 0 of shop',
      'Loaded snapshot 0',
      'Restored the previous postgres://',
      'is intact',
      'Removed snapshot',
    ]) {
      await terminal.waitFor(line);
    }
  });

  it('show the log of a load, open psql on its destination, prove the snapshot by a restore, and keep the history', async () => {
    await openWithSnapshot('shop');
    await confirmLoad();
    await terminal.waitFor('✓ copy replaced');
    terminal.press('L');
    await terminal.waitFor('Log');
    terminal.press('/', 'switched', 'enter');
    await terminal.waitFor(/Log: 1 of \d+ lines/);
    expect(terminal.screen()).toContain('Switched copy to the restored database');
    terminal.press('esc');
    await terminal.waitFor((screen) => !/Log: \d+ of/.test(screen));
    terminal.press('L');
    await terminal.waitFor('✓ copy replaced');

    terminal.press('!');
    await terminal.waitFor('copy=#');
    const { password } = new URL(server.url('copy'));
    const clients = await processesNaming('psql');
    expect(clients.filter(({ words }) => words.includes('/copy')).map(({ words }) => words)).not.toEqual([]);
    expect(clients.filter(({ words }) => words.includes(password))).toEqual([]);
    terminal.press('SELECT count(*) FROM customer;', 'enter');
    await terminal.waitFor(/^ +2000$/m);
    terminal.press('\\q', 'enter');
    await terminal.waitFor('✓ copy replaced');

    terminal.press('esc');
    await terminal.waitFor(ONE_SNAPSHOT);
    terminal.press('V');
    await terminal.waitFor(/✓ Snapshot 0 of shop \(\w+ RAW\) can be restored/);
    terminal.press('esc');
    await terminal.waitFor(ONE_SNAPSHOT);
    terminal.press('esc');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('t');
    await terminal.waitFor('tool ❯ activity');
    await terminal.waitFor((screen) => /load .*shop/.test(screen) && /build .*shop/.test(screen));
    // Another session reads it.
    const env = { ...process.env, TOOL_TRUST: 'true', HOME: folder.path };
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'history', '--json'], {
      cwd: folder.path,
      env,
    });
    expect(JSON.parse(stdout).entries).toMatchObject([
      { operation: 'verify', target: 'shop', outcome: 'done' },
      { operation: 'load', target: 'shop', outcome: 'done', to: expect.stringMatching(/\/copy$/) },
      { operation: 'build', target: 'shop', outcome: 'done', from: expect.stringMatching(/\/shop$/) },
    ]);
  });

  it('do not announce the end of a run of less than ten seconds', async () => {
    const command = `printf '\\033]2;my shell\\007'; exec "${process.execPath}" "${PROGRAM}"`;
    await open([], { command: ['sh', '-c', command] });
    terminal.press('/', 'shop', 'enter', 'b');
    await terminal.waitFor('Built snapshot 0 of shop');
    terminal.press('esc');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('q');
    await expectRestored(0);
    await terminal.waitFor('Built snapshot 0 of shop');
    expect(terminal.announced()).toEqual({ titles: ['my shell'], bells: 0, notifications: [] });
  });

  it('say where a target stands that does not answer, and go on meanwhile', async () => {
    await open();
    terminal.press('G');
    await terminal.waitFor('❯ away');
    await terminal.waitFor(/unreachable at \d\d:\d\d: /);
    terminal.press('b');
    await terminal.waitFor(/✗ Cannot reach .*127\.0\.0\.1:1/);
    terminal.press('esc');
    await terminal.waitFor('4 targets');
    terminal.press('g');
    await terminal.waitFor('❯ shop');
    terminal.press('q');
    await expectRestored(0);
    await terminal.waitFor('build away failed');
  });

  it("show a failed load with the server's message and the state of the destination", async () => {
    await openWithSnapshot('homesick');
    await confirmLoad();
    await terminal.waitFor('there is no place like home');
    await terminal.waitFor('The destination is unchanged');
    await expectUntouched();
  });

  it('show which file of a snapshot is damaged', async () => {
    await openWithSnapshot('shop');
    const [manifest = ''] = await readdir(join(work, 'snapshots', 'shop'));
    const { tables } = JSON.parse(await readFile(join(work, 'snapshots', 'shop', manifest), 'utf8'));
    const { sha256 } = tables[0].file;
    await truncate(join(work, 'objects', sha256.slice(0, 2), sha256), 50);
    await confirmLoad();
    await terminal.waitFor(/✗ Snapshot \w+ of shop is damaged/);
    await terminal.waitFor('public.customer: the object');
    await terminal.waitFor('→ The destination is unchanged.');
    await expectUntouched();
  });

  it('cancel a load with Ctrl-C, and the destination is unchanged', async () => {
    await openWithSnapshot('slow');
    await confirmLoad();
    await eventually(async () => (await server.databases()).some((name) => name.startsWith('copy.tool-new')));
    await terminal.waitFor('running');
    terminal.press('ctrl+c');
    await terminal.waitFor('cancelled after');
    await expectUntouched();
    terminal.press('esc');
    await terminal.waitFor(SNAPSHOTS);
    terminal.press('esc');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('q');
    await terminal.exited();
    await terminal.waitFor(/load \w{8} → copy cancelled/);
  });

  it('ask before they are left with work going on, and can cancel it', async () => {
    await openWithSnapshot('slow');
    await confirmLoad();
    await terminal.waitFor('running');
    terminal.press('esc');
    await terminal.waitFor(/● load \w{8} → copy/);
    terminal.press('esc');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('q');
    await terminal.waitFor('❯ Stay');
    terminal.press('down', 'down', 'enter');
    await expectRestored(130);
    await terminal.waitFor(/load \w{8} → copy cancelled/);
    await expectUntouched();
  });

  it('change nothing with --read-only, and say why', async () => {
    await open(['--read-only']);
    terminal.press('b');
    await terminal.waitFor('Started with --read-only: nothing is changed');
    terminal.press('q');
    await expectRestored(0);
  });
});

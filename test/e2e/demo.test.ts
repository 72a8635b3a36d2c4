import { readdir } from 'node:fs/promises';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { describeWithPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { processesNaming } from '../helpers/processes/processes.ts';
import { PROGRAM } from '../helpers/program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

/** The sample takes some ten seconds to make. */
const FILLED = 50_000;

describeWithPostgres('tool demo on a terminal, from the bundle', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let terminal: TestTerminal;

  beforeAll(() => build());

  beforeEach(async () => {
    folder = await temporaryFolder({ mode: 0o1777 });
    terminal = openTerminal({
      command: [process.execPath, PROGRAM, 'demo'],
      environment: { TMPDIR: folder.path, XDG_CACHE_HOME: folder.path },
    });
  });

  afterEach(async () => {
    terminal.close();
    await folder[Symbol.asyncDispose]();
  });

  async function expectNothingLeft(): Promise<void> {
    expect(await processesNaming(`${folder.path}/`)).toEqual([]);
    const left = await readdir(folder.path);
    expect(left.filter((name) => name.startsWith('tool-'))).toEqual([]);
  }

  it('opens the screens on its targets, one of them unreachable, and leaves nothing after quit', async () => {
    await terminal.waitFor((screen) => screen.includes('✗ unreachable') && screen.split('✓ up').length === 3, FILLED);
    expect(terminal.screen()).toMatch(/shop.*shop-public|shop-public.*shop/s);
    terminal.press('q');
    await terminal.waitFor('The demo has ended');
    expect(await terminal.exited()).toMatchObject({ exitCode: 0 });
    expect(terminal.modes()).toMatchObject({ alternateScreen: false, cursorHidden: false });
    await expectNothingLeft();
  });

  it('leaves nothing when Ctrl-C comes while it makes the sample', async () => {
    await terminal.waitFor('Create the sample database', FILLED);
    terminal.press('ctrl+c');
    expect(await terminal.exited()).toMatchObject({ exitCode: 130 });
    await expectNothingLeft();
  });
});

import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import xterm from '@xterm/headless';
import { beforeEach, expect, test } from 'vitest';
import { pick } from '../../src/cli/pick.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';
import { ATTENDED, PIPED } from '../helpers/terminal/cli-host.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

let cli: ConfiguredCli;

beforeEach(async () => {
  cli = await configuredCli(
    'working_directory: ./work\ntargets:\n  app: { name: The shop, snapshot: {} }\n  billing: { snapshot: {} }\n',
  );
});

/** A terminal to type into: keys are sent when the program switches it to single keys, lines when back. */
function keyboard(...answers: string[]) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), {
    setRawMode(raw: boolean) {
      modes.push(raw);
      const isLine = answers[0]?.endsWith('\n') ?? false;
      if (raw !== isLine) setImmediate(() => stdin.write(answers.shift() ?? ''));
    },
  });
  return { stdin, modes };
}

test('a command without its target offers those of the configuration, and the screen is as before', async () => {
  const { stdin, modes } = keyboard('bil\r');
  const { exit, stdout, stderr } = await cli.tool(['target'], { terminal: ATTENDED, stdin });
  expect(stderr).toMatch(/Target:[\s\S]*❯ app +The shop +0 snapshots[\s\S]*Target: bil[\s\S]*Target: billing\n$/);
  expect(stdout).toContain('billing');
  expect(modes).toEqual([true, false]);
  expect(exit).toBe(0);
});

test('a command without its snapshot offers those of the chosen target', async () => {
  const created_at = '2026-11-21T04:00:00.000Z';
  await storeSnapshot(join(cli.folder.path, 'work'), { target: 'app', id: '8c41f2ab', created_at, content: '1\n' });
  const { stdin } = keyboard('\r', '\r', 'n\n');
  const { exit, stderr } = await cli.tool(['rm'], { terminal: ATTENDED, stdin });
  expect(stderr).toMatch(/Target: app\n[\s\S]*❯ 8c41f2ab RAW +.* ago[\s\S]*Snapshot: 8c41f2ab\n/);
  expect(stderr).toContain('Not confirmed. Nothing was changed.');
  expect(exit).toBe(5);
});

test('Esc ends with the exit code of a cancelled command', async () => {
  const { stdin, modes } = keyboard('\x1b');
  const { exit, stderr } = await cli.tool(['build'], { terminal: ATTENDED, stdin });
  expect(stderr).toContain('Cancelled. Nothing was changed.');
  expect(exit).toBe(130);
  expect(modes).toEqual([true, false]);
});

test.each([
  ['--json', ATTENDED, ['--json']],
  ['--no-tui', ATTENDED, ['--no-tui']],
  ['--yes', ATTENDED, ['--yes']],
  ['CI', { ...ATTENDED, ci: true }, []],
  ['a pipe', PIPED, []],
] as const)('a missing target is an error with %s', async (_, terminal, flags) => {
  const { stdin, modes } = keyboard('\r');
  const { exit, stdout, stderr } = await cli.tool(['build', ...flags], { terminal, stdin });
  expect(exit).toBe(2);
  expect(stdout + stderr).toMatch(/missing required argument 'target'/i);
  expect(modes).toEqual([]);
});

test('an argument for which there is no list is still required, and the help shows all of them as such', async () => {
  const { stdin } = keyboard('\r');
  const { exit, stderr } = await cli.tool(['branch', 'create', 'app'], { terminal: ATTENDED, stdin });
  expect([exit, stderr]).toEqual([2, expect.stringContaining("'name'")]);
  expect((await cli.tool(['build', '--help'], { terminal: ATTENDED })).stdout).toContain('<target>');
});

test('the list moves, filters and says when nothing matches, within the width of the terminal', async () => {
  const terminal = new xterm.Terminal({ cols: 30, rows: 16, allowProposedApi: true, convertEol: true });
  const output = Object.assign(new PassThrough(), { rows: 16 });
  output.on('data', (data: Buffer) => terminal.write(data));
  const { stdin } = keyboard('');
  const items = Array.from({ length: 30 }, (_, index) => ({
    label: `target-${index} ${'x'.repeat(40)}`,
    value: `${index}`,
  }));
  const options = {
    prompt: 'Target:',
    items,
    columns: () => terminal.cols,
    unicode: true,
    signal: new AbortController().signal,
  };
  const picked = pick({ ...options, input: stdin, output });
  const shown = () =>
    new Promise<string[]>((resolve) =>
      terminal.write('', () =>
        resolve(
          Array.from({ length: terminal.rows }, (_, row) => {
            const { active } = terminal.buffer;
            return (
              active
                .getLine(active.baseY + row)
                ?.translateToString(true)
                .trimEnd() ?? ''
            );
          }),
        ),
      ),
    );
  await expect.poll(async () => (await shown())[1]).toMatch(/^❯ target-0 x+…$/);
  stdin.write('\x1b[B'.repeat(12));
  await expect.poll(async () => (await shown())[10]).toMatch(/^❯ target-12 /);
  expect((await shown())[1]).toMatch(/^ {2}target-3 /);
  output.rows = 6;
  output.emit('resize');
  const written = async () => (await shown()).filter((line) => line !== '');
  await expect.poll(async () => (await written()).length).toBe(6);
  stdin.write('nonsense');
  await expect.poll(async () => (await shown()).slice(0, 2)).toEqual(['Target: nonsense', '  No match']);
  stdin.write('\r\x15-29');
  for (const columns of [60, 20, 30]) {
    terminal.resize(columns, 16);
    output.emit('resize');
    const list = [
      'Target: -29',
      `❯ target-29 ${'x'.repeat(40)}`,
      '  ↑↓ move, type to filter, Enter select, Esc cancel',
    ];
    const cutTo = (line: string) => (line.length < columns ? line : `${line.slice(0, columns - 2)}…`);
    await expect.poll(written).toEqual(list.map(cutTo));
  }
  stdin.write('\r');
  expect(await picked).toBe('29');
  await expect.poll(async () => (await shown()).join('')).toBe('');
});

const ONE = 'working_directory: ./work\ntargets:\n  shop: { snapshot: { src_url: "postgres://127.0.0.1:1/shop" } }\n';

test('the only target of a configuration may be left out, in a script too', async () => {
  const { tool, folder } = await configuredCli(ONE);
  const created_at = '2026-11-21T04:00:00.000Z';
  await storeSnapshot(join(folder.path, 'work'), { target: 'shop', id: '8c41f2ab', created_at, content: '1\n' });
  for (const words of [['target'], ['target', 'shop']]) {
    expect((await tool(words)).stdout).toContain('8c41f2ab');
  }
  const { exit, stderr } = await tool(['note', '0', 'before the release']);
  expect([exit, stderr]).toEqual([0, '']);
  expect((await tool(['target', '--json'])).stdout).toContain('"note":"before the release"');
  expect((await tool(['note', '0'])).stderr).toContain("Missing required argument 'text'");
  expect((await tool(['branch', 'drop', 'fix', '--yes'])).stderr).not.toContain('There is no target');
  expect((await tool(['branch', 'drop'])).stderr).toContain("Missing required argument 'names'");
  expect((await tool(['rm', '0', '--yes'])).exit).toBe(0);
});

test('options after -- are of the program that is run, and name no database', async () => {
  const { tool } = await configuredCli(ONE);
  for (const words of [
    ['--', 'flyway', '--to', '5'],
    ['shop', '--', 'migrate', '--from', '3', '--help'],
  ]) {
    expect((await tool(['rehearse', ...words])).stderr).toContain('has no destination');
  }
});

test.each([
  ['resembles its name', ['target', 'shp'], 'There is no target "shp"'],
  ['is empty', ['target', ''], 'There is no target ""'],
  ['has no other place', ['build', 'prod'], 'There is no target "prod"'],
  ['would be a program to run', ['rehearse', 'prod', '--yes'], 'There is no target "prod"'],
  ['would become one more branch to drop', ['branch', 'drop', 'prod', 'fix', '--yes'], 'There is no target "prod"'],
])('a word that %s does not stand for the only target', async (_, words, message) => {
  const { exit, stderr } = await (await configuredCli(ONE)).tool(words);
  expect(stderr).toContain(message);
  expect(exit).toBe(2);
});

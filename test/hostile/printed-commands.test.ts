import { execFileSync } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { assertSignature } from '../../src/operations/snapshots/signatures.ts';
import { damaged } from '../../src/repository/damaged.ts';
import type { Manifest } from '../../src/repository/manifest/manifest.ts';
import { shell } from '../../src/text/shell-word.ts';
import { putTarget, startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

// A person copies the command of a hint into a shell. A hub, a bucket or a git repository may have named the target.

const NAMES = [
  'a;b$(x)',
  '`x`',
  "it's",
  'a b',
  '&& x',
  '-x',
  '--yes',
  '-',
  '~',
  '*',
  '#a',
  '>a',
  '$HOME',
  'a\nx',
  '!x',
];

/** The arguments that `tool` gets from a POSIX shell. */
function argumentsOf(line: string): string[] {
  const script = `tool() { printf '%s\\0' "$@"; }; ${line}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

test.each(NAMES)('a printed command has the name %j as one word, which is no option', (name) => {
  const isOption = name.startsWith('-');
  expect(argumentsOf(shell`tool build ${name}`)).toEqual(['build', ...(isOption ? ['--', name] : [name])]);
  expect(argumentsOf(shell`tool back app --branch ${name} --list`)).toEqual([
    'back',
    'app',
    '--branch',
    name,
    '--list',
  ]);
});

test.each(['app', 'shop-db.example.com', 'a_1', '8c41f2ab'])('a printed command has the name %s as it is', (name) => {
  expect(shell`tool load ${name} ${0}`).toBe(`tool load ${name} 0`);
});

test.each([
  ['a;b$(x)', "tool build 'a;b$(x)'"],
  ['-x', 'tool build -- -x'],
])('a snapshot of the target %s of a bucket has hints with a quoted name', (target, command) => {
  const manifest: Manifest = {
    ...{ format: 1, id: 'aaaa0000', target, created_at: '2026-01-01T00:00:00.000Z', engine: 'postgres' },
    ...{ server_version: '17.5', tool_version: '1.0.0', sanitized: false, note: null, schemas: [], tables: [] },
    ...{ files: [], added_bytes: 0, details: {}, signature: { key: 'AAAA', value: 'AAAA' } },
  };
  expect(() => assertSignature(manifest)).toThrow(
    expect.objectContaining({ code: 'signature_invalid', hint: expect.stringContaining(`: ${command}`) }),
  );
  const error = damaged({ manifest, file: { name: 'toc.dat' }, cause: new Error('short') });
  expect(error.hint).toContain(`: ${command}`);
});

describeWithPostgres('a hub', () => {
  test('cannot put a command into a hint with the name of a target', async () => {
    const hub = await startHub();
    onTestFinished(() => hub.stop());
    const name = 'a;b$(x)';
    await putTarget(hub, encodeURIComponent(name), { settings: {} });
    const cli = await configuredCli(`env: development\ndev_api_url: ${hub.url}\nauthtoken: ${hub.ownerToken}\n`);
    const { stderr } = await cli.tool(['verify', name]);
    expect(stderr).toContain("hint: Build one: tool build 'a;b$(x)'");
  });
});

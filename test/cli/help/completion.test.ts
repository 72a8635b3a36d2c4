import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CompletionSources, complete } from '../../../src/cli/completion/completion.ts';
import { COMPLETION_SCRIPTS } from '../../../src/cli/completion/completion-scripts.ts';
import { COMMANDS, FAMILIES, GLOBAL_OPTIONS } from '../../../src/commands/registry.ts';

const sources: CompletionSources = {
  grammar: { commands: COMMANDS, families: FAMILIES, globalOptions: GLOBAL_OPTIONS, version: '1.2.3' },
  targets: async () => [
    { value: 'app', description: 'App' },
    { value: 'shop', description: 'Shop' },
  ],
  saves: async (target) => [{ value: `save-of-${target}`, description: '5 min ago' }],
  providers: async () => [{ value: 'idp', description: '' }],
  sensitiveKeys: async () => [{ value: 'authtoken', description: '' }],
  snapshots: async (target) =>
    target === 'shop'
      ? [{ value: '0', description: `newest of ${target}` }]
      : ['0', '@main', '#v2.4'].map((value) => ({ value, description: '' })),
  tables: async (target, snapshot) => [
    { value: 'public.orders', description: `of ${target} ${snapshot}` },
    { value: 'public.customer', description: '' },
  ],
};

async function offered(line: string): Promise<string[]> {
  return (await complete(line.split(' '), sources)).map(({ value }) => value);
}

/** First words of the commands, in the order of the help. */
const firstWords = new Set(COMMANDS.filter(({ hidden }) => !hidden).map(({ name }) => name.split(' ', 1)[0] ?? ''));

test.each<[string, string[]]>([
  ['', [...firstWords, 'help']],
  ['help bra', ['branch']],
  ['help branch d', ['drop']],
  ['auth login ', ['idp']],
  ['back shop ', ['load', 'previous', 'save-of-shop']],
  ['back shop sa', ['save-of-shop']],
  ['save shop ', []],
  ['save shop --remove ', ['save-of-shop']],
  ['load app --tables public.orders,', ['public.orders,public.customer']],
  ['undo app --dry-run --d', ['--destdb', '--debug']],
  ['config encrypt authtoken ', []],
  ['ta', ['tag', 'targets', 'target']],
  ['branch ', ['create', 'list', 'reset', 'serve', 'switch', 'checkout', 'hook', 'drop', 'prune']],
  ['branch create ', ['app', 'shop']],
  ['config ', ['init', 'save-target', 'import', 'check', 'show', 'schema', 'encrypt', 'decrypt']],
  ['config decrypt ', ['authtoken']],
  ['config encrypt targets.app.name a', ['authtoken']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['load ', ['app', 'shop']],
  ['load s', ['shop']],
  ['load app ', ['0', '@main', '#v2.4', ':files']],
  ['load app@', ['app@main']],
  ['load -o app#v', ['app#v2.4']],
  ['build app@', []],
  ['load app@main --tables public.o', ['public.orders']],
  ['tag app@main ', []],
  ['rm shop ', ['0']],
  ['build app ', []],
  ['verify shop --original ', ['0']],
  ['--config x.yml load --destdb postgres://h/d a', ['app']],
  ['--config=x.yml load a', ['app']],
  ['--config = x.yml load a', ['app']],
  ['load app --tables ', ['public.orders', 'public.customer']],
  ['load app --tables public.customer,public.o', ['public.customer,public.orders']],
  ['load app --tables = public.c', ['public.customer']],
  ['--config ', [':files']],
  ['--config = x', [':files']],
  ['build app --note ', []],
  ['undo app --d', ['--destdb', '--dry-run', '--debug']],
  ['history ', ['app', 'shop']],
  ['--h', ['--help']],
  ['nonsense ', []],
])('after "tool %s" the shell offers %j', async (line, expected) => {
  expect(await offered(line)).toEqual(expected);
});

test('the snapshots offered are those of the target that was named', async () => {
  expect(await complete(['rm', 'shop', ''], sources)).toEqual([{ value: '0', description: 'newest of shop' }]);
});

test('the tables offered are those of the snapshot that was named', async () => {
  const [table] = await complete(['load', 'shop', '2', '--tables', 'public.o'], sources);
  expect(table).toEqual({ value: 'public.orders', description: 'of shop 2' });
});

let directory: string;

// A stand-in for the program that shows which words it was asked about, then offers two targets and files.
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'completion-'));
  const program = join(directory, 'tool');
  writeFileSync(
    program,
    '#!/bin/sh\nprintf "%s|" "$@" >asked\nprintf "app\\tThe app\\nmy shop\\t\\n:files\\t.sql\\n"\n',
  );
  chmodSync(program, 0o755);
  writeFileSync(join(directory, 'a file.sql'), '');
  writeFileSync(join(directory, 'notes.txt'), '');
  writeFileSync(join(directory, '.hidden.sql'), '');
  for (const [shell, script] of Object.entries(COMPLETION_SCRIPTS)) {
    writeFileSync(join(directory, `completion.${shell}`), script);
  }
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function inShell(shell: string, args: string[]): string {
  const PATH = `${directory}:${process.env.PATH}`;
  return execFileSync(shell, args, {
    cwd: directory,
    env: { ...process.env, PATH, TOOL_TRUST: 'true', HOME: directory },
    encoding: 'utf8',
  });
}

function asked(): string {
  return execFileSync('cat', ['asked'], { cwd: directory, encoding: 'utf8' });
}

const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

describe.skipIf(!has('bash'))('bash', () => {
  test('completes the words before the cursor, with files', () => {
    const script = `source completion.bash; COMP_WORDS=(tool load "" x); COMP_CWORD=2; _tool; printf "%s\\n" "\${COMPREPLY[@]}"`;
    const replies = inShell('bash', ['--norc', '-c', script]).trimEnd().split('\n');
    expect(replies).toEqual(['app', 'my\\ shop', 'a\\ file.sql']);
    expect(asked()).toBe('__complete|--|load||');
  });

  test.each([
    ['My\\ S', 'My S', 'my\\ shop'],
    ['"My S', 'My S', 'my shop'],
  ])('reads the quotes of %s, and completes within them', (word, asks, reply) => {
    const script = `source completion.bash; COMP_WORDS=(tool load '${word}'); COMP_CWORD=2; _tool; printf "%s\\n" "\${COMPREPLY[@]}"`;
    expect(inShell('bash', ['--norc', '-c', script]).split('\n')).toContain(reply);
    expect(asked()).toBe(`__complete|--|load|${asks}|`);
  });

  test('offers hidden files once a dot is typed', () => {
    const script = `source completion.bash; COMP_WORDS=(tool load .h); COMP_CWORD=2; _tool; printf "%s\\n" "\${COMPREPLY[@]}"`;
    expect(inShell('bash', ['--norc', '-c', script])).toContain('.hidden.sql');
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  test('completes the words before the cursor, with files', () => {
    const script = [
      `compdef() { :; }; _describe() { print -l -- "\${(@P)3}"; }; _files() { print files; }`,
      'source ./completion.zsh; words=(tool load "" x); CURRENT=3; _tool',
    ].join('\n');
    expect(inShell('zsh', ['-f', '-c', script])).toBe('app:The app\nmy shop:\nfiles\n');
    expect(asked()).toBe('__complete|--|load||');
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  test('completes the words before the cursor, with files', () => {
    const replies = inShell('fish', ['-N', '-c', 'source completion.fish; complete -C "tool load "']);
    expect(replies).toContain('app\tThe app');
    expect(replies).toContain('a file.sql');
    expect(asked()).toBe('__complete|--|load||');
  });
});

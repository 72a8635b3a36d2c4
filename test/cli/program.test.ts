import { expect, test } from 'vitest';
import { parseLine } from '../../src/cli/program.ts';
import { withUrlTarget } from '../../src/cli/words.ts';
import { COMMANDS, FAMILIES, GLOBAL_OPTIONS } from '../../src/commands/registry.ts';

const options = {
  columns: null,
  grammar: { commands: COMMANDS, families: FAMILIES, globalOptions: GLOBAL_OPTIONS, version: '1.2.3' },
};

function parse(line: string) {
  const parsed = parseLine(line.split(' ').filter(Boolean), options);
  return parsed.kind === 'command' ? { ...parsed, spec: parsed.spec.name } : parsed;
}

test('a line becomes a command with its arguments, options and the flags of all commands', () => {
  expect(parse('load app 2 --destdb postgres://u@h/d --dry-run --no-undo --cpus 3')).toEqual({
    kind: 'command',
    spec: 'load',
    arguments: { target: 'app', snapshot: '2' },
    options: {
      destdb: 'postgres://u@h/d',
      dryRun: true,
      undo: false,
      autosave: true,
      drop: true,
      afterLoad: true,
      cpus: 3,
    },
    globals: { json: false, tui: true, yes: false, readOnly: false, debug: false, trust: false },
  });
});

test.each([
  '--config a.yml --json --no-tui -y --debug config check --offline',
  'config --config a.yml --json check --no-tui --offline -y --debug',
  'config check --offline --config=a.yml --yes --json --no-tui --debug',
])('flags of all commands are understood anywhere: %s', (line) => {
  expect(parse(line)).toMatchObject({
    spec: 'config check',
    options: { offline: true },
    globals: { config: 'a.yml', json: true, tui: false, yes: true, readOnly: false, debug: true },
  });
});

test.each([
  ['buidl app', 'unknown_command', 'Did you mean build?'],
  ['config chekc', 'unknown_command', 'Did you mean check?'],
  ['load app --destbd x', 'unknown_flag', 'Did you mean --destdb?'],
  ['targets --jsno', 'unknown_flag', 'Did you mean --json?'],
  ['build app --nocloud', 'unknown_flag', 'Without authtoken'],
  ['targets --noui', 'unknown_flag', 'Use --no-tui.'],
  ['load app x.sql --src_url', 'unknown_flag', 'Use --source'],
  ['targets --destdb x', 'unknown_flag', 'tool targets --info'],
  ['target app --destdb x', 'unknown_flag', 'tool target TARGET --info'],
  ['targets --update', 'unknown_flag', 'Omit it'],
  ['target app --cloud', 'unknown_flag', 'list the places'],
  ['mcp --stdio', 'unknown_flag', 'standard input'],
  ['load app --no-keep-base', 'unknown_flag', 'keep_base: false'],
  ['reset app --no-spare', 'unknown_flag', 'keep_spare: false'],
  ['changes app --cpus 2', 'unknown_flag', 'TOOL_DEFAULTS__CPUS'],
  ['hub serve --listen x', 'unknown_flag', 'TOOL_HUB_LISTEN'],
  ['build', 'missing_argument', 'Usage: tool build [options] [target]'],
  ['rm app', 'missing_argument', 'Usage: tool rm [options] [target] <snapshot>'],
  ['undo app 1', 'excess_argument', 'Usage: tool undo [options] [target]'],
  ['build app --note', 'missing_value', 'tool build --help'],
  ['build app --cpus 0', 'invalid_value', 'tool build --help'],
  ['build app --cpus two', 'invalid_value', 'tool build --help'],
  ['completion tcsh', 'invalid_value', 'tool completion --help'],
])('"%s" is wrong usage: %s', (line, code, hint) => {
  expect(() => parse(line)).toThrow(expect.objectContaining({ code, exit: 2, hint: expect.stringContaining(hint) }));
});

test.each([
  [
    ['build', 'app', 'postgres://u:my p/ss@h/db'],
    "Too many arguments for 'build'. Expected 1 argument but got 2: app, postgres://u:***@h/db.",
  ],
  [['postgres://u:my p@ss@h/db'], "Unknown command 'postgres://u:***@h/db'"],
])('wrong usage shows no password: %s', (words, message) => {
  expect(() => parseLine(words, options)).toThrow(expect.objectContaining({ message }));
});

test.each([
  ['load app@main --dry-run', { target: 'app', snapshot: '@main' }],
  ['load -o app#v2@4 --cpus 2', { target: 'app', snapshot: '#v2@4' }],
  ['--config x.yml target app+20260102', { target: 'app', snapshot: '+20260102' }],
  ['rm app:8c41f2ab', { target: 'app', snapshot: '8c41f2ab' }],
  ['rows app@feature/x public.orders', { target: 'app', snapshot: '@feature/x', table: 'public.orders' }],
  ['tag app:0 v2.4 --remove v2', { target: 'app', snapshot: '0', tags: ['v2.4'] }],
  ['diff app@main 0', { target: 'app', a: '@main', b: '0' }],
  ['export -o app@x app', { target: 'app' }],
  ['build app@main', { target: 'app@main' }],
])('"%s" names a target and a snapshot', (line, expected) => {
  expect(parse(line)).toMatchObject({ arguments: expected });
});

test.each([
  ['mad app', 'tool --help lists the commands.'],
  ['load app --tubs x', 'tool load --help lists the options.'],
])('there is no suggestion for "%s", in which more than a third is wrong', (line, hint) => {
  expect(() => parse(line)).toThrow(expect.objectContaining({ exit: 2, hint }));
});

test('a family of commands alone is incomplete, and so is no word at all', () => {
  expect(parse('config')).toMatchObject({ kind: 'incomplete', alone: false });
  expect(parse('--json')).toMatchObject({ kind: 'incomplete', alone: true, globals: { json: true } });
});

test('help and version are texts', () => {
  expect(parse('--version')).toEqual({ kind: 'text', text: '1.2.3\n' });
  expect(parse('help load')).toEqual(parse('load --help'));
});

test('the help lists every command that is not hidden, and each has its own with an example', () => {
  const help = (line: string) => (parse(line) as { text: string }).text;
  const all = help('--help');
  expect(all).not.toContain('__complete');
  for (const { name, hidden, examples } of COMMANDS) {
    if (hidden) continue;
    expect(all).toContain(`\n  ${name.split(' ')[0]} `);
    for (const { command } of examples) expect(help(`${name} --help`)).toContain(command);
  }
});

test('every example in the help can be parsed', async () => {
  for (const { examples, name } of COMMANDS) {
    for (const { command } of examples) {
      const words = /tool (.*?)\)?$/.exec(command)?.[1] ?? '';
      const given = await withUrlTarget(words.match(/"[^"]*"|\S+/g) ?? [], { ...options, environment: {} });
      const parsed = parseLine(given, options);
      expect(parsed).toMatchObject({ kind: 'command', spec: { name } });
    }
  }
});

test('--from of a command that has it is its own', async () => {
  const words = 'branch create app b --from a'.split(' ');
  expect(await withUrlTarget(words, { ...options, environment: {} })).toEqual(words);
  const parsed = parse(words.join(' '));
  expect(parsed).toMatchObject({ arguments: { target: 'app', name: 'b' }, options: { from: 'a' } });
  expect(parsed).not.toHaveProperty('globals.from');
});

test.each([40, 60, 80, 120])('help wraps at words in %d columns', (columns) => {
  for (const name of ['', ...COMMANDS.map((spec) => spec.name)]) {
    const words = [...name.split(' ').filter(Boolean), '--help'];
    const help = parseLine(words, { ...options, columns });
    const whole = parseLine(words, { ...options, columns: 10_000 });
    if (help.kind !== 'text' || whole.kind !== 'text') throw new Error(`no help of ${name}`);
    expect(help.text.split('\n').filter((line) => line.length > columns)).toEqual([]);
    expect(help.text.split(/\s+/)).toEqual(whole.text.split(/\s+/));
  }
});

test('every option is declared with keys that the parser knows, and a value that is none of its choices is refused', () => {
  const known = new Set(['flags', 'description', 'value', 'choices', 'repeatable', 'complete']);
  const specs = [...GLOBAL_OPTIONS, ...COMMANDS.flatMap((command) => command.options)];
  expect(specs.flatMap((option) => Object.keys(option)).filter((key) => !known.has(key))).toEqual([]);
  expect(parse('rehearse app --fail-on warning')).toMatchObject({ options: { failOn: 'warning' } });
  expect(() => parse('rehearse app --fail-on everything')).toThrow('--fail-on');
});

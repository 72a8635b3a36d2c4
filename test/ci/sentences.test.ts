import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';

// What a person reads is in the text.ts of its operation or screen, in errors and in the specifications of commands and
// keys, so that the command line and the screens have the same words for the same thing.

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['screens', 'components', 'src/cli', 'src/commands', 'src/results'];

/** Files with sentences for a reason. */
const ALLOWED: Record<string, string> = {
  'screens/app/why-not.ts': 'reasons of disabled keys',
  'src/cli/program.ts': 'the help of the command line',
  'src/cli/completion/completion-scripts.ts': 'scripts of shells',
  'src/cli/usage-error.ts': 'errors of the command line',
  'src/commands/registry.ts': 'what families of commands are about',
  'src/results/manifest/git-state.ts': 'errors of a schema',
  'src/results/manifest/hidden-objects.ts': 'errors of a schema',
  'src/results/manifest/migration-results.ts': 'errors of a schema',
};

/** Properties of keys, commands and options, whose words stand beside what they do. */
const SPECIFIED = [
  'label',
  'palette',
  'help',
  'whyNot',
  'title',
  'description',
  'summary',
  'does',
  'command',
  'group',
  'complete',
  'palette',
];

interface Node {
  type?: string;
  [key: string]: unknown;
}

function sourcesIn(folder: string): string[] {
  const files = readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => /\.tsx?$/.test(file)).map((file) => `${folder}/${file}`);
}

/** The sentences of a source, outside of errors and specifications. */
function sentencesOf(source: string, { tsx }: { tsx: boolean }): string[] {
  const found: string[] = [];
  visit(parseSync(source, { syntax: 'typescript', tsx }));
  return found;

  function visit(value: unknown): void {
    if (Array.isArray(value)) value.forEach(visit);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const node = value as Node;
    if (isExempt(node)) return;
    const text = textOf(node);
    if (text !== null && isSentence(text)) found.push(text.trim());
    for (const [key, inner] of Object.entries(node)) if (node.type !== 'SwitchCase' || key !== 'test') visit(inner);
  }
}

function isExempt(node: Node): boolean {
  const named = (value: unknown): string => String((value as Node | undefined)?.value ?? '');
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ThrowStatement':
    case 'TsLiteralType':
      return true;
    case 'CallExpression':
      return ['describe', 'description'].includes(named(node.callee) || named((node.callee as Node).property));
    case 'NewExpression':
      return named(node.callee).endsWith('Error');
    case 'KeyValueProperty':
      return SPECIFIED.includes(named(node.key));
    default:
      return false;
  }
}

function textOf(node: Node): string | null {
  if (node.type === 'StringLiteral' || node.type === 'JSXText') return String(node.value);
  if (node.type !== 'TemplateLiteral') return null;
  return (node.quasis as { raw: string }[]).map(({ raw }) => raw).join('…');
}

const COMMAND_NAMES = new Set(COMMANDS.map(({ name }) => name));

/** Three words or more; keys of objects, paths and classes have fewer. */
function isSentence(text: string): boolean {
  if (COMMAND_NAMES.has(text)) return false;
  return text.split(/\s+/).filter((word) => /^["'(]?\p{L}[\p{L}'’-]*[,.:;?!)"'…]*$/u.test(word)).length >= 3;
}

test.each([
  ["const text = 'Nothing is there';", ['Nothing is there']],
  ['const text = `Loaded $'.concat('{what} into the destination`;'), ['Loaded … into the destination']],
  ['<Text>Nothing is there</Text>;', ['Nothing is there']],
  ["notify({ text: 'Nothing is there' });", ['Nothing is there']],
  ["throw new UserError('Nothing is there');", []],
  ["const key = { keys: ['a'], help: 'do what is shown', whyNot: () => 'Nothing is there' };", []],
  ["const key = describe(text, 'Nothing is there');", []],
  ["import { one } from 'nothing is there';", []],
])('a sentence is found in %s', (source, sentences) => {
  expect(sentencesOf(source, { tsx: true })).toEqual(sentences);
});

test('sentences are in text files, in errors and in the specifications of keys and commands only', () => {
  const found = FOLDERS.flatMap(sourcesIn)
    .filter((file) => !Object.hasOwn(ALLOWED, file) && !/[/-]text\.ts$/.test(file))
    .flatMap((file) =>
      sentencesOf(readFileSync(`${root}/${file}`, 'utf8'), { tsx: file.endsWith('x') }).map(
        (text) => `${file}: ${text}`,
      ),
    );
  expect(found).toEqual([]);
});

test('each file that is allowed has sentences', () => {
  for (const file of Object.keys(ALLOWED)) {
    expect(sentencesOf(readFileSync(`${root}/${file}`, 'utf8'), { tsx: false }), file).not.toEqual([]);
  }
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';
import { expect, test } from 'vitest';

// A person copies a printed command into a shell. A name in it may be a stranger's: `shell` of src/text/shell-word.ts
// quotes it.

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The text before a value that is a word of a command. */
const COMMAND =
  /(?:^|[^\w.-])(?:(?:tool|cd|ssh|curl|git -C|docker [a-z]+|chmod \d+|aws configure)(?: [\w=<>|@-]+(?:\.\w+)*)* | --[a-z][a-z-]* )$/;

/** Templates that no person copies, and words of the program itself. */
const ALLOWED = [
  ['hub/http/request.ts', 'tool $ is too old for this hub, which needs $ or later'],
  ['src/cli/run-command.ts', 'tool $ changes data, and --read-only was given'],
  ['src/cli/usage-error.ts', 'tool $'],
  ['src/commands/load.ts', 'tool load TARGET FILE.sql $'],
  ['src/engines/mysql/server/names.ts', 'tool load $'],
  ['src/engines/postgres/server/server.ts', 'tool load $'],
  ['src/operations/branch/hook/hook.ts', '# >>> tool branch hook $ >>>'],
  ['src/operations/branch/hook/hook.ts', '# <<< tool branch hook $ <<<'],
  ['src/operations/branch/hook/hook.ts', '# <<< tool branch hook $ <<<\\n'],
  ['src/operations/state-signature.ts', 'tool $ 1\\n$'],
  ['src/repository/encryption/envelope.ts', 'tool storage $'],
];

interface Node {
  type?: string;
  [key: string]: unknown;
}

/** The templates in which a value is a word of a command, with `$` for each value. */
function unquoted(source: string, { tsx = false } = {}): string[] {
  const found: string[] = [];
  visit(parseSync(source, { syntax: 'typescript', tsx }), null);
  return found;

  function visit(value: unknown, parent: Node | null): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, parent);
      return;
    }
    const node = value as Node;
    if (node.type === 'TemplateLiteral' && Array.isArray(node.expressions) && !isQuoting(parent)) {
      const texts = (node.quasis as { raw: string }[]).map(({ raw }) => raw);
      const isWord = (expression: Node, index: number): boolean =>
        !isConstant(expression) && COMMAND.test(texts[index] ?? '');
      if ((node.expressions as Node[]).some(isWord)) found.push(texts.join('$'));
    }
    for (const inner of Object.values(node)) visit(inner, node);
  }
}

function isQuoting(parent: Node | null): boolean {
  return parent?.type === 'TaggedTemplateExpression' && (parent.tag as Node).value === 'shell';
}

function isConstant({ type, value }: Node): boolean {
  return type === 'Identifier' && /^[A-Z_]+$/.test(String(value));
}

const BUILD = 'tool build $'.concat('{target}');
const BRANCH = 'tool back app --branch $'.concat('{branch}');

test.each([
  [`const hint = \`Build one: ${BUILD}\`;`, ['Build one: tool build $']],
  [`const hint = \`Build one (${BUILD} --full)\`;`, ['Build one (tool build $ --full)']],
  [`const hint = \`${BRANCH}\`;`, ['tool back app --branch $']],
  [`const hint = html\`<code>${BUILD}</code>\`;`, ['<code>tool build $</code>']],
  [`const hint = shell\`${BUILD}\`;`, []],
  ['const hint = `Run tool build. It reads $'.concat('{target}`;'), []],
])('an unquoted name is found in %s', (source, found) => {
  expect(unquoted(source)).toEqual(found);
});

test('each name in a printed command is quoted', () => {
  const folders = ['src', 'hub', 'components', 'screens'];
  const listed = execFileSync('git', ['ls-files', '-z', ...folders], { cwd: root, encoding: 'utf8' }).split('\0');
  const files = listed.filter((file) => /\.tsx?$/.test(file));
  const found = files.flatMap((file) =>
    unquoted(readFileSync(`${root}${file}`, 'utf8'), { tsx: file.endsWith('x') }).map((text) => `${file}: ${text}`),
  );
  expect([...new Set(found)].toSorted()).toEqual(ALLOWED.map(([file, text]) => `${file}: ${text}`).toSorted());
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { expect, test } from 'vitest';

interface Node {
  type: string;
  [field: string]: unknown;
}

const ROOT = new URL('../../', import.meta.url).pathname;
/** Constants by their spelling, and functions. */
const REVIEWED = /^([A-Z_]+|encodeURIComponent|replaced|typedSecret)$/;

// `$'`, `$&` and `$1` in a replacement insert parts of the text: a name that ends with `$` changed a query.
test.each(['src', 'screens', 'components', 'hub'])('%s takes no replacement text from a value', (folder) => {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(ROOT, folder, name), 'utf8');
      return replacements(parseSync(text, { syntax: 'typescript', tsx: name.endsWith('x') })).flatMap((by) =>
        isPlain(by) ? [] : [`${folder}/${name}: ${by.type} ${by.value ?? ''}`],
      );
    });
  expect(found).toEqual([]);
});

test('the test finds them', () => {
  const found = (text: string) => replacements(parseSync(text, { syntax: 'typescript' })).map(isPlain);
  expect(found(`a.replace('x', b); a.replaceAll(x, \`(\${b})\`); a?.replace(x, b.c)`)).toEqual([false, false, false]);
  expect(found(`a.replace('x', 'y'); a.replace(x, () => b); a.replace(X, Y); a.replace(X, \`\${Y}\`)`)).toEqual(
    Array(4).fill(true),
  );
});

/** The second arguments of `replace` and `replaceAll`. */
function replacements(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(replacements);
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(replacements);
  const { type, callee, arguments: given } = value as Node & { callee?: Node; arguments?: { expression: Node }[] };
  const member = (callee?.base ?? callee) as Node | undefined;
  const called = (member?.property as Node | undefined)?.value;
  const isReplace = type === 'CallExpression' && (called === 'replace' || called === 'replaceAll');
  return isReplace && given?.[1] ? [given[1].expression, ...below] : below;
}

function isPlain(by: Node): boolean {
  if (by.type === 'TemplateLiteral') return (by.expressions as Node[]).every(isPlain);
  if (by.type === 'ConditionalExpression') return [by.consequent, by.alternate].every((one) => isPlain(one as Node));
  if (by.type === 'Identifier') return REVIEWED.test(String(by.value));
  return ['StringLiteral', 'ArrowFunctionExpression', 'FunctionExpression'].includes(by.type);
}

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from '@swc/core';

/** A node of swc's tree; its fields differ from type to type. */
interface Node {
  type: string;
  [field: string]: unknown;
}

/** Words that only SQL writes in capitals. */
const SQL =
  /\b(SELECT|INSERT INTO|UPDATE|DELETE|CREATE|ALTER|DROP|TRUNCATE|COPY|GRANT|REVOKE|LOCK|RENAME|COMMENT ON|FROM|WHERE|JOIN|AND|OR|SET|CALL|LOAD DATA|REFRESH|ANALYZE|OPERATOR|ENCODING|COLLATE|CHARACTER SET|RAISE|EXECUTE|LIMIT|CHECK|PARTITION|VALUES|IN|REFERENCES|IS NOT NULL|AS)\b/;
/** What writes an identifier, a literal, a number, a word of a catalog (letters, digits, `_`), or a comparison of those. */
const QUOTING = new Set([
  ...['quoteName', 'quoteText', 'quoteNumber', 'quotePath', 'quoteAccount', 'Number'],
  ...[
    'keyText',
    'plainWord',
    'plainWords',
    'inDatabase',
    'tablesIn',
    'tablesExcept',
    'withOwnRows',
    'keysWithOwnRows',
    'quoteBytes',
  ],
]);

/** Expressions in the SQL of a folder that are neither quoted nor constants: `file: expression`, sorted, each once. */
export function unquotedInterpolations(folder: string): string[] {
  return expressionsIn(folder, ({ expressions }, known) =>
    (expressions as Node[]).flatMap(partsOf).filter((expression) => !isSafe(expression, known)),
  );
}

/** Expressions that the SQL of a folder reads from, and that `asTable` has not named. */
export function readsWithoutHint(folder: string): string[] {
  return expressionsIn(folder, ({ expressions, quasis }) =>
    (expressions as Node[]).filter(
      (one, at) => !isAsTable(one) && READS.test((quasis as { raw: string }[])[at]?.raw ?? ''),
    ),
  );
}

const READS = /(?<!DELETE |DELETE HISTORY )\b(FROM|JOIN)\s+$/;

/** Chosen expressions of every SQL template: `file: expression`, sorted, each once. */
function expressionsIn(folder: string, choose: (template: Node, known: Set<string>) => Node[]): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found = files.flatMap((name) => {
    const file = join(folder, name);
    const tree = parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript' }) as unknown as Node;
    const known = safeConstants(tree);
    const chosen = nodesOf(tree)
      .filter(isSql)
      .flatMap((template) => choose(template, known));
    return chosen.map((expression) => `${relative(folder, file)}: ${textOf(expression)}`);
  });
  return [...new Set(found)].sort();
}

/** The arguments of `asTable`, which quotes none of them; any other expression as it is. */
function partsOf(node: Node): Node[] {
  return isAsTable(node) ? (node.arguments as { expression: Node }[]).map(({ expression }) => expression) : [node];
}

function isAsTable({ type, callee }: Node): boolean {
  return type === 'CallExpression' && (callee as Node).value === 'asTable';
}

function isSql({ type, quasis }: Node): boolean {
  return type === 'TemplateLiteral' && (quasis as { raw: string }[]).some(({ raw }) => SQL.test(raw));
}

function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(nodesOf);
  return 'type' in value && typeof value.type === 'string' ? [value as Node, ...below] : below;
}

/** Names that are only ever given safe values in the file. */
function safeConstants(tree: Node): Set<string> {
  const values = Map.groupBy(
    nodesOf(tree).filter(
      ({ type, id, init }) => type === 'VariableDeclarator' && (id as Node).type === 'Identifier' && init,
    ),
    ({ id }) => (id as { value: string }).value,
  );
  const bound = new Set(
    nodesOf(tree)
      .filter(({ type }) => type === 'Parameter')
      .flatMap((one) => nodesOf(one.pat))
      .map(({ value }) => value),
  );
  const safe = new Set(['FIRST_OWN_OID', 'undefined']);
  for (let size = -1; size < safe.size; ) {
    size = safe.size;
    for (const [name, all] of values) {
      if (!bound.has(name) && all.every(({ init }) => isSafe(init as Node, safe))) safe.add(name);
    }
  }
  return safe;
}

function isSafe(node: Node, known: Set<string>): boolean {
  const each = (nodes: unknown): boolean => (nodes as Node[]).every((one) => isSafe(one, known));
  switch (node.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
      return true;
    case 'TemplateLiteral':
      return each(node.expressions);
    case 'Identifier':
      return known.has(node.value as string);
    case 'AwaitExpression':
      return isSafe(node.argument as Node, known);
    case 'ParenthesisExpression':
      return isSafe(node.expression as Node, known);
    case 'ConditionalExpression':
      return each([node.consequent, node.alternate]);
    case 'BinaryExpression':
      return each([node.left, node.right]);
    case 'CallExpression':
      return isSafeCall(node, known);
    default:
      return false;
  }
}

/** `quoteName(…)`, and `names.map(quoteName).join(', ')` or the same of what is safe. */
function isSafeCall(node: Node, known: Set<string>): boolean {
  if (isAsTable(node)) return partsOf(node).every((part) => isSafe(part, known));
  const { callee, arguments: given } = node;
  const called = callee as Node;
  if (called.type === 'Identifier') return QUOTING.has(called.value as string);
  if (called.type !== 'MemberExpression') return false;
  const method = ((called.property as Node).value ?? '') as string;
  const first = (given as { expression: Node }[])[0]?.expression;
  if (method === 'join') return isSafe(called.object as Node, known);
  if (method !== 'map' || !first) return false;
  if (first.type === 'Identifier') return QUOTING.has(first.value as string);
  return first.type === 'ArrowFunctionExpression' && isSafe(first.body as Node, known);
}

/** A short text of an expression, for people and for the list of those that were reviewed. */
function textOf(node: Node): string {
  switch (node.type) {
    case 'Identifier':
      return node.value as string;
    case 'MemberExpression':
      return `${textOf(node.object as Node)}.${textOf(node.property as Node)}`;
    case 'OptionalChainingExpression':
      return textOf(node.base as Node);
    case 'CallExpression':
      return `${textOf(node.callee as Node)}(${(node.arguments as { expression: Node }[]).map(({ expression }) => textOf(expression)).join(', ')})`;
    case 'ConditionalExpression':
      return `${textOf(node.test as Node)} ? ${textOf(node.consequent as Node)} : ${textOf(node.alternate as Node)}`;
    case 'BinaryExpression':
      return `${textOf(node.left as Node)} ${node.operator} ${textOf(node.right as Node)}`;
    case 'Computed':
      return textOf(node.expression as Node);
    case 'StringLiteral':
    case 'NumericLiteral':
      return JSON.stringify(node.value);
    case 'TemplateLiteral':
      return '`…`';
    default:
      return node.type;
  }
}

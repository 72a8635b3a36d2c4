import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { createTree, isTree, type KeyPath, type Tree } from './tree.ts';

export interface Position {
  line: number;
  column: number;
}

/** Something wrong in the text of a file, before anybody asks what the text means. */
export interface Flaw extends Position {
  code: string;
  message: string;
  hint: string | null;
}

/** A file of YAML: its values, and where each of them stands. */
export interface YamlSource {
  tree: Tree;
  flaws: Flaw[];
  /** Where a value or its key stands, or the nearest thing around it that is in the file. */
  locate(path: KeyPath, what: 'key' | 'value'): Position;
  /** Where a character of a value stands; the value's beginning when it is not written as it is. */
  locateWithin(path: KeyPath, offset: number): Position;
}

const MAX_DEPTH = 40;

/** How many values aliases may stand for in all; a file that needs more is made to exhaust memory. */
const MAX_ALIASED = 10_000;

/** What to do about the mistakes that YAML invites, by the parser's own codes. */
const SYNTAX_HINTS: Record<string, string> = {
  TAB_AS_INDENT: 'Indent with spaces.',
  BLOCK_AS_IMPLICIT_KEY: 'A value with ": " in it stands in quotes.',
  BAD_INDENT: 'Keys of one level begin in the same column.',
  MISSING_CHAR: 'A quote or bracket is not closed.',
  MULTIPLE_DOCS: 'A configuration is one document; remove what begins with ---.',
};

export const TEMPLATE_IN_QUOTES = "A value that begins with {{ stands in quotes: '{{`NAME` | env}}'.";

export function parseYaml(text: string): YamlSource {
  const lines = new LineCounter();
  const flaws: Flaw[] = [];
  const flaw = (offset: number, { code, message, hint }: { code: string; message: string; hint?: string | null }) => {
    flaws.push({ ...positionAt(lines, offset), code, message, hint: hint ?? null });
  };

  let document: Document.Parsed;
  try {
    // Duplicates are looked for below: the parser's own search takes quadratic time.
    document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return brokenSource({ line: lineOfDeepest(text), column: 1, code: 'too_deep', message: TOO_DEEP, hint: null });
  }
  for (const { code, message, pos } of firstOfEachLine(document.errors, lines)) {
    const lineText = text.slice(0, pos[0]).split('\n').at(-1) ?? '';
    const hint = /:\s*\{\{/.test(lineText) ? TEMPLATE_IN_QUOTES : (SYNTAX_HINTS[code] ?? null);
    flaw(pos[0], { code: 'yaml_syntax', message: `not valid YAML: ${message}`, hint });
  }

  const tree = flaws.length > 0 ? createTree() : readTree(document, flaw);
  const find = (path: KeyPath) => findNodes(document.contents, path);
  const locate = (path: KeyPath, what: 'key' | 'value'): Position => {
    const { key, value, found } = find(path);
    return positionAt(lines, startOf(found && what === 'value' ? (value ?? key) : (key ?? value)));
  };
  return {
    tree,
    flaws,
    locate,
    locateWithin(path, offset) {
      const { value } = find(path);
      if (!isScalar(value) || typeof value.value !== 'string') return locate(path, 'value');
      const start = startOf(value);
      const quote = value.type === 'QUOTE_SINGLE' || value.type === 'QUOTE_DOUBLE' ? 1 : 0;
      const written = text.slice(start + quote, start + quote + value.value.length);
      return positionAt(lines, written === value.value ? start + quote + offset : start);
    },
  };
}

/** A value written as YAML or JSON in one piece, as in a variable; the text itself when it is not. */
export function parseValue(text: string): unknown {
  const { tree, flaws } = parseYaml(`{"value": ${text}}`);
  return flaws.length === 0 && Object.keys(tree).length === 1 ? tree.value : text;
}

const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;

/** A source of which nothing can be used. */
export function brokenSource(flaw: Flaw): YamlSource {
  const position = { line: flaw.line, column: flaw.column };
  return { tree: createTree(), flaws: [flaw], locate: () => position, locateWithin: () => position };
}

type ReportFlaw = (offset: number, flaw: { code: string; message: string; hint?: string | null }) => void;

function readTree(document: Document.Parsed, flaw: ReportFlaw): Tree {
  const anchors = new Map<string, { value: unknown; size: number }>();
  let aliased = 0;
  let size = 0;

  function read(node: unknown, depth: number): unknown {
    size += 1;
    if (depth > MAX_DEPTH) {
      flaw(startOf(node), { code: 'too_deep', message: TOO_DEEP });
      return null;
    }
    if (isAlias(node)) return readAlias(node.source, startOf(node));
    const before = size;
    const value = readContent(node, depth);
    const anchor = (node as Node | null)?.anchor;
    if (anchor) anchors.set(anchor, { value, size: size - before + 1 });
    return value;
  }

  function readContent(node: unknown, depth: number): unknown {
    if (isScalar(node)) return node.value ?? null;
    if (isSeq(node)) return node.items.map((item) => read(item, depth + 1));
    if (!isMap(node)) return null;
    const tree = createTree();
    const merged: unknown[] = [];
    for (const pair of node.items) {
      const key = keyOf(pair);
      if (key === null) {
        flaw(startOf(pair.key ?? node), {
          code: 'invalid_key',
          message: 'a key must be text',
          hint: TEMPLATE_IN_QUOTES,
        });
      } else if (isMergeKey(pair)) {
        merged.push(read(pair.value, depth + 1));
      } else if (Object.hasOwn(tree, key)) {
        flaw(startOf(pair.key), {
          code: 'duplicate_key',
          message: `the key ${key} is there twice`,
          hint: 'Remove one.',
        });
      } else {
        tree[key] = read(pair.value, depth + 1);
      }
    }
    for (const source of merged.flat()) if (isTree(source)) Object.assign(tree, { ...source, ...tree });
    return tree;
  }

  function readAlias(name: string, offset: number): unknown {
    const anchor = anchors.get(name);
    if (!anchor) {
      flaw(offset, { code: 'yaml_syntax', message: `not valid YAML: the alias *${name} stands for nothing before it` });
      return null;
    }
    aliased += anchor.size;
    size += anchor.size;
    if (aliased <= MAX_ALIASED) return structuredClone(anchor.value);
    const first = aliased - anchor.size <= MAX_ALIASED;
    if (first) flaw(offset, { code: 'too_many_aliases', message: `aliases stand for more than ${MAX_ALIASED} values` });
    return null;
  }

  const value = read(document.contents, 0);
  if (isTree(value)) return value;
  if (value !== null) {
    flaw(startOf(document.contents), {
      code: 'wrong_type',
      message: 'the configuration must be a map of keys',
      hint: 'Write one key: value a line.',
    });
  }
  return createTree();
}

/** The key and the value at a path, or of the nearest ancestor that is there. */
function findNodes(root: unknown, path: KeyPath): { key: unknown; value: unknown; found: boolean } {
  let key: unknown = null;
  let value: unknown = root;
  for (const part of path) {
    if (isSeq(value)) {
      const item = value.items[Number(part)];
      if (item === undefined) return { key, value, found: false };
      key = item;
      value = item;
    } else {
      const pair = isMap(value) ? value.items.find((candidate) => keyOf(candidate) === String(part)) : undefined;
      if (!pair) return { key, value, found: false };
      key = pair.key;
      value = pair.value ?? pair.key;
    }
  }
  return { key, value, found: true };
}

function keyOf(pair: Pair<unknown, unknown>): string | null {
  if (!isScalar(pair.key)) return null;
  // As it is written: `0x10` and `1.0` are names like any other.
  return typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? null);
}

function isMergeKey(pair: Pair<unknown, unknown>): boolean {
  return isScalar(pair.key) && pair.key.value === '<<' && pair.key.type === 'PLAIN';
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function firstOfEachLine<T extends { pos: [number, number] }>(errors: T[], lines: LineCounter): T[] {
  const seen = new Set<number>();
  return errors.filter(({ pos }) => {
    const { line } = lines.linePos(pos[0]);
    return !seen.has(line) && seen.add(line);
  });
}

/** The parser says only that it ran out of stack; the line with most brackets or dashes is where. */
function lineOfDeepest(text: string): number {
  const depths = text.split('\n').map((line) => line.replace(/[^[{?-]/g, '').length);
  return depths.indexOf(depths.reduce((most, depth) => Math.max(most, depth), 0)) + 1;
}

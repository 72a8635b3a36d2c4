import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { createTree, isTree, type KeyPath, type Tree } from '../tree.ts';
import { createSpotFinder, keyOf, startOf } from './find-spot.ts';
import { MAX_DEPTH, parseText, TEMPLATE_IN_QUOTES, type TextFlaw, type TextLimit, tooDeep } from './parse-text.ts';

export interface YamlPosition {
  line: number;
  column: number;
}

export type Flaw = YamlPosition & Omit<TextFlaw, 'offset'>;

export interface YamlSource {
  tree: Tree;
  flaws: Flaw[];
  locate(path: KeyPath, what: 'key' | 'value'): YamlPosition;
  /** The location of a character of a value; the value's start when it is not written literally. */
  locateWithin(path: KeyPath, offset: number): YamlPosition;
}

export function parseYaml(text: string, limit?: TextLimit): YamlSource {
  const { document, flaws } = parseText(text, limit);
  const positionAt = createPositions(text);
  const tree = document && flaws.length === 0 ? readTree(document, (flaw) => flaws.push(flaw)) : createTree();
  const find = createSpotFinder(document);
  const locate = (path: KeyPath, what: 'key' | 'value'): YamlPosition => {
    const { node, pair, depth } = find(path);
    return positionAt(startOf(depth === path.length && what === 'value' ? (node ?? pair?.key) : (pair?.key ?? node)));
  };
  return {
    tree,
    flaws: firstOfEachLine(flaws.map(({ offset, ...flaw }) => ({ ...flaw, ...positionAt(offset) }))),
    locate,
    locateWithin(path, offset) {
      const { node: value } = find(path);
      if (!isScalar(value) || typeof value.value !== 'string') return locate(path, 'value');
      const start = startOf(value);
      const quote = value.type === 'QUOTE_SINGLE' || value.type === 'QUOTE_DOUBLE' ? 1 : 0;
      const written = text.slice(start + quote, start + quote + value.value.length);
      return positionAt(written === value.value ? start + quote + offset : start);
    },
  };
}

export function brokenSource(flaw: Flaw): YamlSource {
  const position = { line: flaw.line, column: flaw.column };
  return { tree: createTree(), flaws: [flaw], locate: () => position, locateWithin: () => position };
}

export function parseValue(text: string): unknown {
  const { tree, flaws } = parseYaml(`{"value": ${text}}`);
  return flaws.length === 0 && Object.keys(tree).length === 1 ? tree.value : text;
}

/** Lines and columns of characters. The parser's own count misses line ends in invalid text. */
function createPositions(text: string): (offset: number) => YamlPosition {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: Math.min(offset, text.length) - (starts[low] ?? 0) + 1 };
  };
}

/** Further errors of a line mostly follow from the first. */
function firstOfEachLine(flaws: Flaw[]): Flaw[] {
  const seen = new Set<number>();
  return flaws.filter(({ line }) => !seen.has(line) && seen.add(line));
}

/** A limit on values behind aliases: a file above it would exhaust memory. */
const MAX_ALIASED = 10_000;

function readTree(document: Document.Parsed, report: (flaw: TextFlaw) => unknown): Tree {
  const anchors = new Map<string, { value: unknown; size: number }>();
  let aliased = 0;
  let size = 0;

  function read(node: unknown, depth: number): unknown {
    size += 1;
    if (depth > MAX_DEPTH) {
      report(tooDeep(startOf(node)));
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
    return isMap(node) ? readMap(node, depth) : null;
  }

  function readMap(map: YAMLMap, depth: number): Tree {
    const tree = createTree();
    const merged: unknown[] = [];
    for (const pair of map.items) {
      const key = keyOf(pair);
      const offset = startOf(pair.key ?? map);
      if (key === null) {
        const hint = isMap(pair.key) ? TEMPLATE_IN_QUOTES : 'Write a word in front of the colon.';
        report({ code: 'yaml_syntax', message: 'a key must be text', hint, offset });
      } else if (isMergeKey(pair)) {
        merged.push(read(pair.value, depth + 1));
      } else if (key in tree) {
        report({ code: 'yaml_syntax', message: `duplicate key ${key}`, hint: 'Remove one.', offset });
      } else {
        tree[key] = read(pair.value, depth + 1);
      }
    }
    for (const source of merged.flat().filter(isTree)) {
      for (const [key, value] of Object.entries(source)) if (!(key in tree)) tree[key] = value;
    }
    return tree;
  }

  function readAlias(name: string, offset: number): unknown {
    const anchor = anchors.get(name);
    if (!anchor) {
      // The alias is not named: it may be a password that begins with a star.
      const message = 'not valid YAML: this alias has no anchor before it';
      report({ code: 'yaml_syntax', message, hint: 'Quote a value that begins with *.', offset });
      return null;
    }
    const fitted = aliased <= MAX_ALIASED;
    aliased += anchor.size;
    size += anchor.size;
    if (aliased <= MAX_ALIASED) return structuredClone(anchor.value);
    const message = `aliases refer to more than ${MAX_ALIASED} values`;
    if (fitted) report({ code: 'yaml_syntax', message, hint: null, offset });
    return null;
  }

  const value = read(document.contents, 0);
  if (isTree(value)) return value;
  if (value !== null) {
    const message = 'the configuration must be a map of keys';
    report({
      code: 'wrong_type',
      message,
      hint: 'Write one "key: value" per line.',
      offset: startOf(document.contents),
    });
  }
  return createTree();
}

function isMergeKey({ key }: Pair<unknown, unknown>): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

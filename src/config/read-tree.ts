import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { createTree, isTree, type Tree } from './tree.ts';

export const TEMPLATE_IN_QUOTES = "A value that begins with {{ stands in quotes: '{{`NAME` | env}}'.";

/** Deeper than any configuration, and far from the end of the stack. */
const MAX_DEPTH = 40;

/** How many values aliases may stand for in all; a file that needs more is made to exhaust memory. */
const MAX_ALIASED = 10_000;

type ReportFlaw = (offset: number, flaw: { code: string; message: string; hint?: string }) => void;

/** The plain values of a document. What cannot be taken over is reported and left out. */
export function readTree(document: Document.Parsed, report: ReportFlaw): Tree {
  const anchors = new Map<string, { value: unknown; size: number }>();
  let aliased = 0;
  let size = 0;

  function read(node: unknown, depth: number): unknown {
    size += 1;
    if (depth > MAX_DEPTH) {
      report(startOf(node), { code: 'too_deep', message: `nested deeper than ${MAX_DEPTH} levels` });
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

  function readMap(map: YAMLMap<unknown, unknown>, depth: number): Tree {
    const tree = createTree();
    const merged: unknown[] = [];
    for (const pair of map.items) {
      const key = keyOf(pair);
      const at = startOf(pair.key ?? map);
      if (key === null) {
        report(at, { code: 'invalid_key', message: 'a key must be text', hint: TEMPLATE_IN_QUOTES });
      } else if (isMergeKey(pair)) {
        merged.push(read(pair.value, depth + 1));
      } else if (Object.hasOwn(tree, key)) {
        report(at, { code: 'duplicate_key', message: `the key ${key} is there twice`, hint: 'Remove one.' });
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
      report(offset, { code: 'yaml_syntax', message: `not valid YAML: no anchor &${name} stands before this alias` });
      return null;
    }
    const wasWithin = aliased <= MAX_ALIASED;
    aliased += anchor.size;
    size += anchor.size;
    if (aliased <= MAX_ALIASED) return structuredClone(anchor.value);
    if (wasWithin) {
      report(offset, { code: 'too_many_aliases', message: `aliases stand for more than ${MAX_ALIASED} values` });
    }
    return null;
  }

  const value = read(document.contents, 0);
  if (isTree(value)) return value;
  if (value !== null) {
    const message = 'the configuration must be a map of keys';
    report(startOf(document.contents), { code: 'wrong_type', message, hint: 'Write one "key: value" a line.' });
  }
  return createTree();
}

export function keyOf(pair: Pair<unknown, unknown>): string | null {
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

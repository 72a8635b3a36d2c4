import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { createTree, isTree, type Tree } from '../tree.ts';
import { keyOf, startOf } from './find-node.ts';
import { MAX_DEPTH, TEMPLATE_IN_QUOTES, type TextFlaw, tooDeep } from './parse-text.ts';

/** A limit on values behind aliases: a file above it would exhaust memory. */
const MAX_ALIASED = 10_000;

export function readTree(document: Document.Parsed, report: (flaw: TextFlaw) => unknown): Tree {
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

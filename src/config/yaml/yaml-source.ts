import { isScalar } from 'yaml';
import { createTree, type KeyPath, type Tree } from '../tree.ts';
import { createFinder, startOf } from './find-node.ts';
import { parseText, type TextFlaw, type TextLimit } from './parse-text.ts';
import { readTree } from './read-tree.ts';

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
  const find = createFinder(document?.contents ?? null);
  const locate = (path: KeyPath, what: 'key' | 'value'): YamlPosition => {
    const { key, value, found } = find(path);
    return positionAt(startOf(found && what === 'value' ? (value ?? key) : (key ?? value)));
  };
  return {
    tree,
    flaws: firstOfEachLine(flaws.map(({ offset, ...flaw }) => ({ ...flaw, ...positionAt(offset) }))),
    locate,
    locateWithin(path, offset) {
      const { value } = find(path);
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

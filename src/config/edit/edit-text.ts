import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import { keyOf } from '../find-node.ts';
import { parseText } from '../parse-text.ts';
import { dotted, type KeyPath } from '../tree.ts';
import { writeScalar } from '../yaml-text.ts';

export type PlainValue = string | number | boolean;

/** A value to set, or a key to take out. */
export interface Edit {
  path: KeyPath;
  value: PlainValue | undefined;
}

/**
 * The text with some values changed and every other byte as it was: comments, order, quotes, anchors, blank lines and
 * line endings. Throws when the text is no configuration, or something else stands where a value should go.
 */
export function editText(text: string, edits: Edit[]): string {
  return edits.reduce(applyEdit, text);
}

/** Bytes `from` to `to` give way to `by`. */
interface Replacement {
  from: number;
  to: number;
  by: string;
}

function applyEdit(text: string, { path, value }: Edit): string {
  const { document, flaws } = parseText(text);
  if (!document || flaws.length > 0) throw new Error('the file is not valid YAML');
  const { from, to, by } =
    value === undefined ? removal(text, document, path) : setting(text, document, { path, value });
  return text.slice(0, from) + by + text.slice(to);
}

function setting(
  text: string,
  document: Document.Parsed,
  { path, value }: { path: KeyPath; value: PlainValue },
): Replacement {
  let node: unknown = document.contents;
  for (const [depth, part] of path.entries()) {
    const pair = isMap(node) ? node.items.find((item) => keyOf(item) === String(part)) : undefined;
    const child = isSeq(node) ? node.items[Number(part)] : pair?.value;
    const isEmpty =
      child === null || child === undefined || (isScalar(child) && child.value === null && depth < path.length - 1);
    if (pair && isEmpty) return behindKey(text, pair.key as Node, { rest: path.slice(depth + 1), value });
    if (isEmpty) return insertion(text, node, { path, rest: path.slice(depth), value });
    node = child;
  }
  if (isAlias(node)) return { ...spanOf(node), by: writeScalar(value) };
  if (!isScalar(node)) throw new Error(`${dotted(path)} holds more than one value`);
  return { ...spanOf(node), by: written(text, node, value) };
}

function spanOf(node: Node): { from: number; to: number } {
  const [from = 0, to = 0] = node.range ?? [];
  return { from, to };
}

/** In the quotes that were there. */
function written(text: string, node: Scalar, value: PlainValue): string {
  if (typeof value !== 'string') return String(value);
  if (node.type === 'QUOTE_SINGLE' && /^[\x20-\x7E\u00A0-\uFFFF]*$/.test(value))
    return `'${value.replaceAll("'", "''")}'`;
  if (node.type === 'QUOTE_DOUBLE') return JSON.stringify(value);
  // A block ends with its line.
  const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
  return isBlock ? `${JSON.stringify(value)}${newlineOf(text)}` : writeScalar(value);
}

interface Missing {
  /** The keys that are not there yet, outermost first. */
  rest: KeyPath;
  value: PlainValue;
}

/** A key stands there without a value. */
function behindKey(text: string, key: Node, { rest, value }: Missing): Replacement {
  const colon = text.indexOf(':', key.range?.[1] ?? 0) + 1;
  if (rest.length === 0) return { from: colon, to: colon, by: ` ${writeScalar(value)}` };
  const end = endOfLine(text, colon);
  return {
    from: end,
    to: end,
    by: newlineOf(text) + block(text, { rest, value, indent: columnOf(text, key) + 2 }).trimEnd(),
  };
}

/** New keys go to the end of the map that they belong to. */
function insertion(text: string, parent: unknown, { path, rest, value }: Missing & { path: KeyPath }): Replacement {
  const newline = newlineOf(text);
  if (parent === null || parent === undefined || (isScalar(parent) && parent.value === null)) {
    const separator = text === '' || text.endsWith('\n') ? '' : newline;
    return { from: text.length, to: text.length, by: separator + block(text, { rest, value, indent: 0 }) };
  }
  if (!isMap(parent)) throw new Error(`there is no map to put ${dotted(path)} into`);
  if (parent.flow) {
    const from = (parent.range?.[1] ?? 1) - 1;
    const before = text.slice(0, from).trimEnd().length;
    const comma = parent.items.length === 0 || text[before - 1] === ',' ? ' ' : ', ';
    return { from: before, to: from, by: `${comma}${inFlow(rest, value)} ` };
  }
  const last = parent.items.at(-1);
  const end = lineAfter(text, lastByte(last?.value ?? last?.key));
  const separator = end > 0 && text[end - 1] !== '\n' ? newline : '';
  return { from: end, to: end, by: separator + block(text, { rest, value, indent: indentOf(text, parent) }) };
}

function removal(text: string, document: Document.Parsed, path: KeyPath): Replacement {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const items = isMap(parent) ? parent.items : [];
  const index = items.findIndex((item) => keyOf(item) === String(path.at(-1)));
  const pair = items[index];
  if (!pair || !isMap(parent)) return { from: 0, to: 0, by: '' };
  const start = (pair.key as Node).range?.[0] ?? 0;
  const end = lastByte(pair.value ?? pair.key);
  if (parent.flow) {
    const next = items[index + 1];
    const previous = items[index - 1];
    if (next) return { from: start, to: (next.key as Node).range?.[0] ?? end, by: '' };
    return { from: previous ? lastByte(previous.value ?? previous.key) : start, to: end, by: '' };
  }
  // What is left of a map without keys is `{}`: a key without a value would be another thing.
  if (items.length === 1 && path.length > 1) return { from: start, to: end, by: '{}' };
  return { from: text.lastIndexOf('\n', start - 1) + 1, to: lineAfter(text, end), by: '' };
}

function block(text: string, { rest, value, indent }: Missing & { indent: number }): string {
  const newline = newlineOf(text);
  return rest
    .map((key, depth) => {
      const blanks = ' '.repeat(indent + 2 * depth);
      return `${blanks}${writeScalar(String(key))}:${depth === rest.length - 1 ? ` ${writeScalar(value)}` : ''}${newline}`;
    })
    .join('');
}

function inFlow([key = '', ...rest]: KeyPath, value: PlainValue): string {
  return `${writeScalar(String(key))}: ${rest.length === 0 ? writeScalar(value) : `{ ${inFlow(rest, value)} }`}`;
}

/** The end of what a node says, comments and blank lines behind it left out. */
function lastByte(node: unknown): number {
  if ((isMap(node) || isSeq(node)) && !node.flow && node.items.length > 0) {
    const last: unknown = node.items.at(-1);
    const pair = last as { key?: unknown; value?: unknown };
    return isMap(node) ? Math.max(lastByte(pair.key), lastByte(pair.value)) : lastByte(last);
  }
  return (node as Node | null)?.range?.[1] ?? 0;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

/** The beginning of the line behind the one that ends at or holds the byte. */
function lineAfter(text: string, at: number): number {
  if (at > 0 && text[at - 1] === '\n') return at;
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

function columnOf(text: string, node: Node): number {
  const start = node.range?.[0] ?? 0;
  return start - (text.lastIndexOf('\n', start - 1) + 1);
}

function indentOf(text: string, map: YAMLMap): number {
  return columnOf(text, map.items[0]?.key as Node);
}

function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

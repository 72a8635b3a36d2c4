import type { YAMLSeq } from 'yaml';
import { startOf } from '../yaml/find-node.ts';
import { writeScalar } from '../yaml/yaml-text.ts';
import type { NewItem, TextReplacement } from './edit.ts';
import { endOf, lineEnd, lineStart, newlineOf } from './text-lines.ts';

export function appendItem(text: string, list: YAMLSeq, item: NewItem): TextReplacement | null {
  const last = list.items.at(-1);
  if (list.flow) {
    const at = last === undefined ? startOf(list) + 1 : endOf(last);
    return { from: at, to: at, by: last === undefined ? writeScalar(item) : `, ${writeScalar(item)}` };
  }
  const dash = last === undefined ? null : dashOf(text, last);
  if (dash === null) return null;
  const end = endOf(last);
  // A block scalar ends with its own line break.
  const at = text[end - 1] === '\n' ? end : lineEnd(text, end);
  const line = `${' '.repeat(dash - lineStart(text, dash))}- ${blockItem(item)}`;
  return {
    from: at,
    to: at,
    by: at === end && text[end - 1] === '\n' ? line + newlineOf(text) : newlineOf(text) + line,
  };
}

export function removeItem(text: string, list: YAMLSeq, index: number): TextReplacement | null {
  const item = list.items[index];
  const [previous, next] = [list.items[index - 1], list.items[index + 1]];
  if (list.flow) {
    if (next !== undefined) return { from: startOf(item), to: startOf(next), by: '' };
    return { from: endOf(previous), to: endOf(item), by: '' };
  }
  const dash = dashOf(text, item);
  if (dash === null || text.slice(lineStart(text, dash), dash).trim() !== '') return null;
  const end = endOf(item);
  const from = lineStart(text, dash);
  if (text[end - 1] === '\n') return { from, to: end, by: '' };
  const newline = text.indexOf('\n', end);
  if (newline !== -1) return { from, to: newline + 1, by: '' };
  // Keeps a file without a final line break so.
  return { from: lineEnd(text, lineStart(text, from - 1)), to: text.length, by: '' };
}

function blockItem(item: NewItem): string {
  if (typeof item !== 'object') return writeScalar(item);
  return Object.entries(item)
    .map(([key, value]) => `${key}: ${writeScalar(value)}`)
    .join(', ');
}

function dashOf(text: string, item: unknown): number | null {
  const start = lineStart(text, startOf(item));
  const dash = /^\s*-(?=\s)/.exec(text.slice(start, startOf(item)));
  return dash ? start + dash[0].length - 1 : null;
}

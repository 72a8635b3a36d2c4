import { isMap, isSeq, type Node } from 'yaml';
import { startOf } from '../yaml/find-node.ts';

export function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' && end > at ? end - 1 : end;
}

export function columnOf(text: string, node: unknown): number {
  return startOf(node) - lineStart(text, startOf(node));
}

/** The end of a node without the comments and blank lines behind it. */
export function endOf(node: unknown): number {
  if ((isMap(node) || isSeq(node)) && !node.flow && node.items.length > 0) {
    const last: unknown = node.items.at(-1);
    const { key, value } = last as { key?: unknown; value?: unknown };
    return isMap(node) ? Math.max(endOf(key), endOf(value)) : endOf(last);
  }
  return (node as Node | null)?.range?.[1] ?? 0;
}

export function indentStep(text: string): number {
  const nested = /^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n\1( +)[^\s#-]/m.exec(text);
  return nested?.[2]?.length ?? 2;
}

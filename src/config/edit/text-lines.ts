import { isCollection, isPair, type Node } from 'yaml';

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

export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** The end of a node or pair without the comments and blank lines behind it. */
export function endOf(node: unknown): number {
  if (isPair(node)) return Math.max(endOf(node.key), endOf(node.value));
  if (isCollection(node) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1));
  return (node as Node | null)?.range?.[1] ?? 0;
}

export function indentStep(text: string): number {
  const nested = /^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n\1( +)[^\s#-]/m.exec(text);
  return nested?.[2]?.length ?? 2;
}

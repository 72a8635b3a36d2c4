import { printable } from './printable.ts';

const LONGEST = 200;

/** A name as text of a Markdown table: on one line, without markup, HTML or links. */
export function markdownText(text: string): string {
  const line = printable(text);
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line;
  return short
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*_[\]#|~@$]|:(?=\/\/)/g, '\\$&')
    .replace(/(www)\./gi, '$1&#46;');
}

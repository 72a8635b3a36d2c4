import { readFileSync } from 'node:fs';

/** The commands of a section of a page of docs/: the text of its blocks of `sh`. */
export function commandsOf(page: string, heading: string): string {
  const sections = readFileSync(`docs/${page}`, 'utf8').split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text).join('');
}

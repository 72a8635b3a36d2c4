/** The first word of a statement in upper case, behind blanks and comments; empty where there is none. */
export function firstWord(text: string): string {
  let at = 0;
  while (true) {
    while (/\s|;|\(/.test(text[at] ?? '')) at += 1;
    const comment = COMMENTS.find(({ begin }) => text.startsWith(begin, at));
    if (!comment) break;
    const end = text.indexOf(comment.end, at + comment.begin.length);
    if (end === -1) return '';
    at = end + comment.end.length;
  }
  return /^[a-z_]+/i.exec(text.slice(at, at + LONGEST_WORD))?.[0].toUpperCase() ?? '';
}

const LONGEST_WORD = 32;
const COMMENTS = [
  { begin: '--', end: '\n' },
  { begin: '#', end: '\n' },
  { begin: '/*', end: '*/' },
];

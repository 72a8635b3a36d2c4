/**
 * A database may call a column `a\nb`. A manifest's text holds no control characters in names, so that one is never
 * mistaken for a line or a command by whoever reads it: each stands there as U+241B and four hexadecimal digits.
 */
const ESCAPE = '\u241b';

export function escapeName(name: string): string {
  return name.replaceAll(/[\p{Cc}\u241b]/gu, (one) =>
    one === ESCAPE ? ESCAPE + ESCAPE : ESCAPE + one.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

/** What `escapeName` has not made stays as it is, and so does NUL, which no database has in a name. */
export function unescapeName(text: string): string {
  return text.replaceAll(/\u241b(\u241b|00[0-9a-f]{2})/g, (all, of: string) => {
    if (of === ESCAPE) return ESCAPE;
    const one = String.fromCharCode(Number.parseInt(of, 16));
    return one !== '\0' && /\p{Cc}/u.test(one) ? one : all;
  });
}

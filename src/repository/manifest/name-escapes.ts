/**
 * A database may name a column `a\nb`. In a manifest, control characters in names are U+241B and four hexadecimal
 * digits, so that no name looks like a line or a command.
 */
const ESCAPE = '\u241b';

export function escapeName(name: string): string {
  return name.replaceAll(/[\p{Cc}\u241b]/gu, (one) =>
    one === ESCAPE ? ESCAPE + ESCAPE : ESCAPE + one.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

/** Text that `escapeName` did not create stays, and so does NUL, which no database permits. */
export function unescapeName(text: string): string {
  return text.replaceAll(/\u241b(\u241b|00[0-9a-f]{2})/g, (all, of: string) => {
    if (of === ESCAPE) return ESCAPE;
    const one = String.fromCharCode(Number.parseInt(of, 16));
    return one !== '\0' && /\p{Cc}/u.test(one) ? one : all;
  });
}

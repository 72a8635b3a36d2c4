import type { TextEdit } from '../../../components/text-edit.ts';
import { graphemes } from '../../../src/text/text-width.ts';

export const HIDDEN = '***';

const PASSWORD = /(?<=:\/\/[^:/@]*:).*(?=@)|(?<=[?&]\w*password=)[^&#]*/gi;

/** Also before the @ is typed, and without a scheme; digits are a port. */
const TYPED_PASSWORD =
  /(?<=:\/\/[^:/@]*:)(?:.*(?=@)|(?!\d{1,5}(?:\/|$))[^/]*)|(?<=^(?!.*:\/\/)[^:@]*:).*(?=@)|(?<=[?&]\w*password=)[^&#]*/gi;

export function hidePassword(url: string): string {
  return url.replace(PASSWORD, HIDDEN);
}

export function typedUrl(url: string): string {
  return url.replace(TYPED_PASSWORD, typedSecret);
}

/** A field with a URL: a password has its length only while the cursor is in it. */
export function typedUrlEdit(edit: TextEdit): TextEdit {
  const { text, cursor } = edit;
  const passwords = [...text.matchAll(TYPED_PASSWORD)].map(({ 0: password, index }) => {
    const from = graphemes(text.slice(0, index)).length;
    return { from, to: from + graphemes(password).length };
  });
  if (passwords.some(({ from, to }) => cursor >= from && cursor <= to)) return { ...edit, text: typedUrl(text) };
  const shifts = passwords.map(({ from, to }) => (cursor > to ? to - from - HIDDEN.length : 0));
  const shift = shifts.reduce((sum, cells) => sum + cells, 0);
  return { ...edit, text: text.replace(TYPED_PASSWORD, HIDDEN), cursor: cursor - shift };
}

/** A typed secret, at its own length so that the cursor stays in place. */
export function typedSecret(text: string): string {
  return '*'.repeat(graphemes(text).length);
}

import { graphemes } from '../../src/cells.ts';

/** What stands for a secret of which not even the length is shown. */
export const HIDDEN = '***';

const PASSWORD = /(?<=:\/\/[^:/@]*:).*(?=@)|(?<=[?&]password=)[^&#]*/gi;

/** Also before the @ is there; digits are a port. */
const TYPED_PASSWORD = /(?<=:\/\/[^:/@]*:)(?:.*(?=@)|(?!\d{1,5}(?:\/|$))[^/]*)|(?<=[?&]password=)[^&#]*/gi;

/** A URL without its password. */
export function hidePassword(url: string): string {
  return url.replace(PASSWORD, HIDDEN);
}

/** What is seen of a URL while it is typed. */
export function typedUrl(url: string): string {
  return url.replace(TYPED_PASSWORD, typedSecret);
}

/** What is seen of a secret while it is typed: as many characters as it has, so that the cursor stays where it is. */
export function typedSecret(text: string): string {
  return '*'.repeat(graphemes(text).length);
}

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

/** A typed secret, at its own length so that the cursor stays in place. */
export function typedSecret(text: string): string {
  return '*'.repeat(graphemes(text).length);
}

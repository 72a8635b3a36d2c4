import { passwordsOf } from '../config/secrets/secret-values.ts';
import { hideKnown, knownSecrets } from '../process/redact.ts';

/** Hides the passwords of these URLs in a text. */
export function hidePasswords(urls: string[]): (text: string) => string {
  const secrets = knownSecrets(urls.flatMap(passwordsOf));
  return (text) => hideKnown(text, secrets);
}

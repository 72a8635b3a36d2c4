import type { Settings } from './schema/settings.ts';
import { settingsSchema } from './schema/settings.ts';
import { shapeOf } from './schema/shape.ts';
import { replacePasswords, textsOf } from './secrets/sensitive-values.ts';
import type { Tree } from './tree.ts';

export interface SecretSources {
  /** In force: templates are filled in, and what was encrypted is open. */
  settings: Settings;
  environment: NodeJS.ProcessEnv;
  /** Connection URLs from elsewhere, such as the command line. */
  urls: string[];
}

/** Variables of the engines' and the storage's own programs that hold a secret. */
const VARIABLES = ['PGPASSWORD', 'MYSQL_PWD', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

/** The values of all secrets that a run knows, without those that are also a name that may be seen. */
export function secretValues({ settings, environment, urls }: SecretSources): string[] {
  const texts = textsOf(settings as Tree, shapeOf(settingsSchema));
  const sensitive = texts.filter(({ secret }) => secret).map(({ text }) => text);
  const addresses = [...urls, ...sensitive.filter((text) => text.includes('://'))];
  const secrets = sensitive.filter((text) => !text.includes('://'));
  const variables = VARIABLES.flatMap((name) => environment[name] ?? []);
  const names = texts.flatMap(({ path }) => path);
  const seen = [...names, ...addresses.map((url) => replacePasswords(url, () => ''))].join('\n');
  const all = [settings.secret_key, ...secrets, ...variables, ...addresses.flatMap(passwordsOf)];
  return all.filter((value) => value !== undefined && value !== '' && !seen.includes(value));
}

/** The passwords in a URL, as they are written there and decoded. */
export function passwordsOf(url: string): string[] {
  const passwords: string[] = [];
  replacePasswords(url, (password) => {
    passwords.push(password, decoded(password));
    return password;
  });
  return passwords;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

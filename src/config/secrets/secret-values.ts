import { ENGINE_PROFILES } from '../../engines/list.ts';
import { hideKnown, knownSecrets } from '../../process/redact.ts';
import { type Settings, settingsSchema } from '../schema/settings.ts';
import { shapeOf } from '../schema/shape.ts';
import type { Tree } from '../tree.ts';
import { decoded } from '../urls/url-parts.ts';
import { replacePasswords, textsOf } from './sensitive-values.ts';

const VARIABLES = [
  ...ENGINE_PROFILES.flatMap(({ surroundings }) => surroundings.passwordVariables),
  ...['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'TOOL_ID_TOKEN'],
];

/** The values of all known secrets, except those that are also a visible name. */
export function secretValues({
  settings,
  environment,
  urls,
}: {
  settings: Settings;
  environment: NodeJS.ProcessEnv;
  urls: string[];
}): string[] {
  const texts = textsOf(settings as Tree, shapeOf(settingsSchema));
  const sensitive = texts.filter(({ secret }) => secret).map(({ text }) => text);
  const addresses = [...urls, ...sensitive.filter((text) => text.includes('://'))];
  const secrets = sensitive.filter((text) => !text.includes('://'));
  const variables = VARIABLES.flatMap((name) => environment[name] ?? []);
  const names = texts.flatMap(({ path }) => path);
  const seen = [...names, ...addresses.map((url) => replacePasswords(url, () => ''))].join('\n');
  const all = [settings.secret_key, ...secrets, ...variables, ...addresses.flatMap(passwordsOf)];
  return all.flatMap((value) => (value === undefined || value === '' || seen.includes(value) ? [] : [value]));
}

export function passwordHider(urls: string[]): (text: string) => string {
  const passwords = knownSecrets(urls.flatMap(passwordsOf));
  return (text) => hideKnown(text, passwords);
}

function passwordsOf(url: string): string[] {
  const passwords: string[] = [];
  replacePasswords(url, (password) => {
    passwords.push(password, decoded(password));
    return password;
  });
  return passwords;
}

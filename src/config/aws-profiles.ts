import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What the command-line client of the storage knows under a name, as far as the configuration depends on it. */
export interface AwsProfile {
  /** Where its requests go, when it says so. */
  endpoint?: string;
  region?: string;
  /** Whether it says where its credentials come from. */
  hasCredentials: boolean;
}

/** What says where credentials come from. https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html */
const CREDENTIALS = [
  'aws_access_key_id',
  'credential_process',
  'credential_source',
  'login_session',
  'role_arn',
  'source_profile',
  'sso_session',
  'sso_start_url',
  'web_identity_token_file',
];

/**
 * The profiles of both files of the client. The S3 client reads them itself, but takes longer to load than a
 * configuration to be checked. https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
 */
export async function readAwsProfiles(environment: NodeJS.ProcessEnv): Promise<Map<string, AwsProfile>> {
  const folder = join(environment.HOME || environment.USERPROFILE || homedir(), '.aws');
  const [config, credentials] = await Promise.all([
    readSections(environment.AWS_CONFIG_FILE || join(folder, 'config')),
    readSections(environment.AWS_SHARED_CREDENTIALS_FILE || join(folder, 'credentials')),
  ]);
  // In the first file only `[default]` is a profile without the word; in the second every section is one.
  const named = [...config].flatMap(([section, settings]): Section[] => {
    const name = section === 'default' ? section : /^profile\s+(.+)$/.exec(section)?.[1];
    return name === undefined ? [] : [[unquoted(name), settings]];
  });
  const profiles = new Map<string, AwsProfile>();
  for (const [name, settings] of [...named, ...credentials]) {
    const services = config.get(`services ${settings.get('services')}`);
    const endpoint = services?.get('s3.endpoint_url') ?? settings.get('endpoint_url');
    const region = settings.get('region');
    profiles.set(name, {
      ...profiles.get(name),
      hasCredentials: CREDENTIALS.some((key) => settings.has(key)) || profiles.get(name)?.hasCredentials === true,
      ...(endpoint !== undefined && { endpoint }),
      ...(region !== undefined && { region }),
    });
  }
  return profiles;
}

type Section = [name: string, settings: Map<string, string>];

async function readSections(file: string): Promise<Map<string, Map<string, string>>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const sections = new Map<string, Map<string, string>>();
  let settings = new Map<string, string>();
  let parent = '';
  for (const line of text.split(/\r?\n/)) {
    const written = line.replace(/(^|\s)[#;].*$/, '');
    const name = /^\s*\[\s*(.*?)\s*\]\s*$/.exec(written)?.[1];
    if (name !== undefined) {
      settings = sections.get(name) ?? new Map();
      sections.set(name, settings);
      parent = '';
      continue;
    }
    const [, indent = '', key = '', value = ''] = /^(\s*)([^=\s]+)\s*=\s*(.*?)\s*$/.exec(written) ?? [];
    if (key === '') continue;
    if (indent === '') parent = value === '' ? `${key}.` : '';
    settings.set(indent === '' ? key : parent + key, value);
  }
  return sections;
}

function unquoted(name: string): string {
  return name.replace(/^(["'])(.*)\1$/, '$2');
}

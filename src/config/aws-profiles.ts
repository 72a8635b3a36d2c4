import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where a profile's requests go, when it says so. */
export interface AwsProfile {
  endpointUrl: string | null;
}

/**
 * The profiles of the storage's command-line client, as far as the configuration needs them; the S3 client reads the
 * files itself. https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
 */
export async function readAwsProfiles(environment: NodeJS.ProcessEnv): Promise<Map<string, AwsProfile>> {
  const folder = join(environment.HOME || homedir(), '.aws');
  const files = [
    environment.AWS_CONFIG_FILE || join(folder, 'config'),
    environment.AWS_SHARED_CREDENTIALS_FILE || join(folder, 'credentials'),
  ];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  const profiles = new Map<string, AwsProfile>();
  for (const text of texts) readProfiles(text, profiles);
  return profiles;
}

function readProfiles(text: string, profiles: Map<string, AwsProfile>): void {
  let profile: AwsProfile | null = null;
  for (const line of text.split(/\r?\n/)) {
    const name = /^\s*\[\s*(?:profile\s+)?([^\]]+?)\s*\]/.exec(line)?.[1]?.replace(/^"(.*)"$/, '$1');
    if (name !== undefined) {
      profile = profiles.get(name) ?? { endpointUrl: null };
      profiles.set(name, profile);
    }
    const endpoint = /^\s*endpoint_url\s*=\s*(\S+)/.exec(line)?.[1];
    if (endpoint !== undefined && profile) profile.endpointUrl = endpoint;
  }
}

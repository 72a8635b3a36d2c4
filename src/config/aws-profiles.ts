import { join } from 'node:path';
import { homeOf } from './paths.ts';

export interface AwsProfile {
  endpoint?: string;
  region?: string;
  hasCredentials: boolean;
}

/** Settings that hold or locate credentials. https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html */
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

export async function readAwsProfiles(environment: NodeJS.ProcessEnv): Promise<Map<string, AwsProfile>> {
  const { loadSharedConfigFiles } = await import('@smithy/core/config');
  const folder = join(homeOf(environment), '.aws');
  const { configFile, credentialsFile } = await loadSharedConfigFiles({
    configFilepath: environment.AWS_CONFIG_FILE || join(folder, 'config'),
    filepath: environment.AWS_SHARED_CREDENTIALS_FILE || join(folder, 'credentials'),
    ignoreCache: true,
  });
  const names = Object.keys({ ...configFile, ...credentialsFile }).filter((name) => !OTHER_SECTION.test(name));
  return new Map(
    names.map((name) => {
      const settings = { ...credentialsFile[name], ...configFile[name] };
      const services = configFile[`services.${settings.services}`];
      const endpoint = services?.['s3.endpoint_url'] ?? settings.endpoint_url;
      const { region } = settings;
      const hasCredentials = CREDENTIALS.some((key) => settings[key] !== undefined);
      return [
        name,
        { hasCredentials, ...(endpoint !== undefined && { endpoint }), ...(region !== undefined && { region }) },
      ];
    }),
  );
}

/** The loader lists the sections `[services NAME]` and `[sso-session NAME]` among the profiles. */
const OTHER_SECTION = /^(services|sso-session)\./;

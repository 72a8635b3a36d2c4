import { editFile } from '../../config/edit/edit-file.ts';
import { isWebUrl } from '../../config/schema/values.ts';
import { encrypt } from '../../config/secrets/cipher.ts';
import { requireSecretKey } from '../../config/secrets/require-secret-key.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';

/** Keeps the cloud token in the configuration file, encrypted, and with it the address of the hub. Returns the file. */
export async function saveAuthtoken(
  { configuration, environment, report }: Context,
  { token, hub }: { token: string; hub?: string | undefined },
): Promise<string> {
  const { file, settings } = configuration;
  if (token === '' || /[\s\p{Cc}]/u.test(token)) throw notAToken();
  if (file === null) throw noFile();
  if (hub !== undefined && !isWebUrl(hub)) throw notAnAddress(hub);
  const edits = () => [
    { path: ['authtoken'], value: encrypt(token, requireSecretKey(settings)) },
    ...(hub === undefined ? [] : [{ path: ['base_url'], value: hub }]),
    ...(hub === undefined || settings.env === 'production' ? [] : [{ path: ['env'], value: 'production' }]),
  ];
  await editFile({ file, environment, edits });
  if (environment.TOOL_AUTHTOKEN) {
    const message = 'TOOL_AUTHTOKEN overrides the token in the file';
    report({ event: 'warning', code: 'authtoken_overridden', message });
  }
  return file;
}

function notAToken(): UserError {
  return new UserError('invalid_value', 'Not a token: empty, or contains blanks', {
    hint: 'tool auth token - reads it from standard input, one line.',
  });
}

function notAnAddress(hub: string): UserError {
  return new UserError('invalid_value', `${JSON.stringify(hub)} is not the address of a hub`, {
    hint: 'Use a URL such as https://hub.example.com.',
  });
}

function noFile(): UserError {
  return new UserError('no_configuration', 'There is no configuration file to keep the token in', {
    hint: 'tool config init writes one; or set the variable TOOL_AUTHTOKEN.',
  });
}

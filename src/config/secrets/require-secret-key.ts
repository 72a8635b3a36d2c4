import { UserError } from '../../runtime/errors.ts';

/** The `secret_key`. Throws `secret_key_missing` where there is none to encrypt with. */
export function requireSecretKey({ secret_key }: { secret_key?: string | undefined }): string {
  if (secret_key !== undefined) return secret_key;
  throw new UserError('secret_key_missing', 'The configuration has no secret_key to encrypt with', {
    hint: 'Add one (openssl rand -hex 16 generates it) as secret_key to the configuration, or set TOOL_SECRET_KEY.',
  });
}

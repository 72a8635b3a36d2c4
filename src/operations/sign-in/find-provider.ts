import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import type { ProviderRequest } from '../../sso/provider.ts';
import { nearest } from '../../text/nearest.ts';
import { shell } from '../../text/shell-word.ts';

export function findProvider({ configuration }: Context, name?: string): ProviderRequest {
  const { sso } = configuration.settings;
  const names = Object.keys(sso);
  const chosen = name ?? (names.length === 1 ? names[0] : undefined);
  const settings = chosen !== undefined && Object.hasOwn(sso, chosen) ? sso[chosen] : undefined;
  if (chosen !== undefined && settings) return { name: chosen, settings };
  throw unknown(name, names);
}

export interface ProviderChoice {
  name: string;
  provider_url: string;
}

export function listProviders({ configuration }: Context): ProviderChoice[] {
  return Object.entries(configuration.settings.sso).map(([name, { provider_url }]) => ({ name, provider_url }));
}

function unknown(name: string | undefined, names: string[]): UserError {
  if (names.length === 0) {
    return new UserError('provider_missing', 'The configuration has no identity provider', {
      hint: 'Set sso.<name>.provider_url and .client_id; docs/sso.md says how.',
    });
  }
  const near = name === undefined ? null : nearest(name, names);
  return new UserError(
    'provider_unknown',
    name === undefined ? 'Which identity provider?' : `There is no identity provider "${name}"`,
    { hint: near === null ? names.map((one) => shell`tool auth login ${one}`).join(', ') : `Did you mean "${near}"?` },
  );
}

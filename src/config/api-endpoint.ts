import { UserError } from '../runtime/errors.ts';
import type { Settings } from './schema/settings.ts';

const BASES = {
  development: 'dev_api_url',
  staging: 'staging_api_url',
  production: 'base_url',
} as const satisfies Record<Settings['env'], keyof Settings>;

type HubSettings = Pick<Settings, 'env' | (typeof BASES)[Settings['env']]>;

/** Reports whether the address of a hub is set; development has a default. */
export function hasHubAddress(settings: HubSettings): boolean {
  return settings[BASES[settings.env]] !== undefined;
}

/** Throws when the key of `env` is not set. */
export function apiEndpoint({ env, ...bases }: HubSettings): string {
  const key = BASES[env];
  const base = bases[key];
  if (base === undefined) {
    throw new UserError('api_url_missing', `Cannot use the cloud: ${key} is not set, and env is ${env}`, {
      hint: `Set ${key} in the configuration, or another env.`,
    });
  }
  return `${base.replace(/\/+$/, '')}/api/v3`;
}

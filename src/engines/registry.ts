import { UserError } from '../runtime/errors.ts';
import type { DatabaseUrl } from './database-url.ts';
import type { Engine } from './engine.ts';
import { type EngineId, profileOfScheme, URL_SCHEMES } from './list.ts';
import { mysql } from './mysql/engine.ts';
import { postgres } from './postgres/engine.ts';

const ENGINES: Record<EngineId, Engine> = { postgres, mysql };

export const engines = Object.values(ENGINES);

export function engineOf(id: EngineId): Engine {
  return ENGINES[id];
}

export function engineForUrl(url: string): Engine {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const profile = profileOfScheme(scheme);
  if (profile) return ENGINES[profile.id];
  const says = scheme === '' ? 'Not a connection URL' : `No engine supports ${scheme}:// of the connection URL`;
  throw new UserError('url_invalid', says, {
    hint: `A connection URL begins with ${URL_SCHEMES.map((name) => `${name}://`).join(' or ')}`,
  });
}

export function parseUrl(text: string): DatabaseUrl {
  return engineForUrl(text).parseUrl(text);
}

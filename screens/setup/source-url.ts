import { profileOfScheme } from '../../src/engines/list.ts';
import type { EngineProfile } from '../../src/engines/profile.ts';
import type { ProjectDatabase } from '../../src/operations/configuration/project-database.ts';
import { joinParts, partsOf, partText } from './source-parts.ts';
import { CONTAINER, lacksDatabase, SERVER_URL, type SetupState } from './step.ts';

/** The connection URL of the source. */
export function sourceOf(state: SetupState): string {
  return withPrograms(state, typedSource(state));
}

/** Returns the profile of the source's engine. */
export function sourceProfile(state: SetupState): EngineProfile | undefined {
  return profileOfScheme(sourceOf(state).split(':')[0]?.toLowerCase() ?? '');
}

/** The URL with the scheme for a container, where the answer is to run the client programs in one. */
export function withPrograms({ answers }: SetupState, url: string): string {
  const [scheme = ''] = url.split(':');
  const container = answers.programs === CONTAINER ? profileOfScheme(scheme.toLowerCase())?.containerScheme : undefined;
  return container === undefined ? url : `${container}${url.slice(scheme.length)}`;
}

function typedSource(state: SetupState): string {
  return lacksDatabase(state) ? withDatabase(state) : (state.answers.url ?? '');
}

function withDatabase({ answers: { url = '', database = '' } }: SetupState): string {
  return url.replace(SERVER_URL, (_, server: string, rest = '') => `${server}/${encodeURIComponent(database)}${rest}`);
}

const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\]|)$/i;

/** The application's own database, where it is of the source's type and not the source itself. */
export function projectDestination(state: SetupState): ProjectDatabase | null {
  const { project } = state.found;
  const source = sourceOf(state);
  const engineOf = (url: string) => profileOfScheme(url.split(':')[0] ?? '')?.id;
  return project && project.url !== source && engineOf(project.url) === engineOf(source) ? project : null;
}

/**
 * The application's own database, or `postgres://app@localhost/shop_dev`: the source's database with `_dev`. On the source's server only where that is
 * this machine: never beside production. Empty where the URL cannot be read.
 */
export function proposedDestination(state: SetupState): string {
  const parts = partsOf(sourceOf(state));
  if (!parts?.database) return '';
  const project = projectDestination(state);
  if (project) return project.url;
  const database = `${parts.database}_dev`;
  return LOCAL_HOST.test(parts.host)
    ? joinParts({ ...parts, database })
    : joinParts({ ...parts, database, host: 'localhost', port: '', password: '', rest: '' });
}

/** The name of a target follows from its database. */
export function proposedName(state: SetupState): string {
  const parts = partsOf(sourceOf(state));
  const name = parts ? partText(parts, 'database').replaceAll(/[^\p{L}\p{N}._-]+/gu, '-') : '';
  return name.replace(/^[^\p{L}\p{N}]+|-+$/gu, '') || 'app';
}

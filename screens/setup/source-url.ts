import { urlWithSuffix } from '../../src/config/urls/proposed-url.ts';
import { partsOf, partText } from '../../src/config/urls/raw-parts.ts';
import { profileOfScheme } from '../../src/engines/list.ts';
import type { EngineProfile } from '../../src/engines/profile.ts';
import type { ProjectDatabase } from '../../src/operations/configuration/project-database.ts';
import { CONTAINER, SERVER_URL, type SetupState } from './step.ts';

/** The connection URL of the source. */
export function sourceOf(state: SetupState): string {
  const { url = '', database = '' } = state.answers;
  // The chosen database is added to a URL without one.
  const whole = url.replace(SERVER_URL, (_, server, rest = '') => `${server}/${encodeURIComponent(database)}${rest}`);
  return withPrograms(state, whole);
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

/** The application's own database, where it is of the source's type and not the source itself. */
export function projectDestination(state: SetupState): ProjectDatabase | null {
  const { project } = state.found;
  const source = sourceOf(state);
  const engineOf = (url: string) => profileOfScheme(url.split(':')[0] ?? '')?.id;
  return project && project.url !== source && engineOf(project.url) === engineOf(source) ? project : null;
}

/** The application's own database, or the source's one with `_dev`. Empty where the URL cannot be read. */
export function proposedDestination(state: SetupState): string {
  const source = sourceOf(state);
  if (!partsOf(source)?.database) return '';
  return projectDestination(state)?.url ?? urlWithSuffix(source, '_dev') ?? '';
}

/** The name of a target follows from its database. */
export function proposedName(state: SetupState): string {
  const parts = partsOf(sourceOf(state));
  const name = parts ? partText(parts, 'database').replaceAll(/[^\p{L}\p{N}._-]+/gu, '-') : '';
  return name.replace(/^[^\p{L}\p{N}]+|-+$/gu, '') || 'app';
}

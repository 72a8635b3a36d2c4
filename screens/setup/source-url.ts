import { profileOfScheme } from '../../src/engines/list.ts';
import type { EngineProfile } from '../../src/engines/profile.ts';
import type { ProjectDatabase } from '../../src/operations/configuration/project-database.ts';
import { CONTAINER, lacksDatabase, SERVER_URL, type SetupState } from './step.ts';

/** The connection URL of the source, typed or composed. */
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
  const { answers } = state;
  if (answers.how !== 'fields') return lacksDatabase(state) ? withDatabase(state) : (answers.url ?? '');
  const { engine = 'postgres', host = '', port = '', user = '', password = '', database = '' } = answers;
  const secret = password === '' ? '' : `:${encodeURIComponent(password)}`;
  // An IPv6 address is in brackets; the slashes of a socket's folder are encoded.
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.replaceAll('/', '%2F');
  return `${engine}://${encodeURIComponent(user)}${secret}@${address}:${port}/${encodeURIComponent(database)}`;
}

function withDatabase({ answers: { url = '', database = '' } }: SetupState): string {
  return url.replace(SERVER_URL, (_, server: string, rest = '') => `${server}/${encodeURIComponent(database)}${rest}`);
}

const SOURCE_URL =
  /^(?<scheme>[a-z]+):\/\/(?:(?<user>[^:@/]*)(?<secret>:.*)?@)?(?<host>\[[^\]]*\]|[^@:/?#]*)(?<port>:\d+)?\/(?<database>[^/?#@]+)(?<rest>[?#].*)?$/i;

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
  const parts = SOURCE_URL.exec(sourceOf(state))?.groups;
  if (!parts) return '';
  const { scheme, user = '', secret = '', host = '', port = '', database, rest = '' } = parts;
  const project = projectDestination(state);
  if (project) return project.url;
  const login = (password: string): string => (user === '' && password === '' ? '' : `${user}${password}@`);
  return LOCAL_HOST.test(host)
    ? `${scheme}://${login(secret)}${host}${port}/${database}_dev${rest}`
    : `${scheme}://${login('')}localhost/${database}_dev`;
}

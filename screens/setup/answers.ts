import type { SetUp } from '../../src/operations/configuration/set-up.ts';
import type { SetupRoute } from './setup-route.ts';
import { isProvider, KEYS, neededBy } from './storage-steps.ts';

export function setUpOf(route: SetupRoute): SetUp {
  const { answers, config } = route;
  return {
    file: config ?? answers.file ?? '',
    target: answers.target ?? 'app',
    source: sourceOf(route),
    destination: answers.destination ?? '',
    schemaConfig: schemaConfigOf(route),
    variables:
      answers.keep === 'variable'
        ? { source: answers.sourceVariable ?? '', destination: answers.destinationVariable ?? '' }
        : null,
    storage: storageOf(route),
  };
}

/** The connection URL of the source, typed or composed. */
export function sourceOf(route: SetupRoute): string {
  const { answers } = route;
  if (answers.how !== 'fields') return lacksDatabase(route) ? withDatabase(route) : (answers.url ?? '');
  const { engine = 'postgres', host = '', port = '', user = '', password = '', database = '' } = answers;
  const secret = password === '' ? '' : `:${encodeURIComponent(password)}`;
  // An IPv6 address is in brackets; the slashes of a socket's folder are encoded.
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.replaceAll('/', '%2F');
  return `${engine}://${encodeURIComponent(user)}${secret}@${address}:${port}/${encodeURIComponent(database)}`;
}

const SERVER = /^([a-z]+:\/\/[^/?#]+)\/?([?#].*)?$/i;

/** Whether the typed URL names a server without a database. */
export function lacksDatabase({ answers }: SetupRoute): boolean {
  return answers.how !== 'fields' && SERVER.test(answers.url ?? '');
}

function withDatabase({ answers: { url = '', database = '' } }: SetupRoute): string {
  return url.replace(SERVER, (_, server: string, rest = '') => `${server}/${encodeURIComponent(database)}${rest}`);
}

/** `null` where `public`, the default, is the only schema. */
function schemaConfigOf({ found, leftOut }: SetupRoute): SetUp['schemaConfig'] {
  const names = (found.source?.schemas ?? []).map(({ name }) => name);
  if (names.every((name) => name === 'public')) return null;
  const taken = names.filter((name) => !leftOut.includes(name));
  return taken.length === names.length ? { use_default_schema: false } : { include_schemas: taken };
}

export function storageOf({ answers }: SetupRoute): SetUp['storage'] {
  const { storage, bucket = '', region, endpoint, account, prefix, credentials, accessKey, secretKey } = answers;
  if (!isProvider(storage)) return null;
  const needed = neededBy(storage);
  const keys = credentials === KEYS && accessKey && secretKey ? { access_key: accessKey, secret_key: secretKey } : {};
  return {
    provider: storage,
    bucket,
    ...(prefix && { prefix }),
    ...(needed === 'region' && region && { region }),
    ...(needed === 'endpoint' && endpoint && { endpoint }),
    ...(needed === 'account_id' && account && { account_id: account }),
    ...(credentials ? { cli_profile: credentials } : keys),
  };
}

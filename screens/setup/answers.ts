import type { SetUp } from '../../src/operations/configuration/set-up.ts';
import { lacksDatabase, SERVER_URL, type SetupState } from '../../src/presentation/setup/step.ts';
import { isProvider, KEYS, neededBy } from '../../src/presentation/setup/storage-steps.ts';

export function setUpOf(state: SetupState): SetUp {
  const { answers, config } = state;
  return {
    file: config ?? answers.file ?? '',
    target: answers.target ?? 'app',
    source: sourceOf(state),
    destination: answers.destination ?? '',
    schemaConfig: schemaConfigOf(state),
    variables:
      answers.keep === 'variable'
        ? { source: answers.sourceVariable ?? '', destination: answers.destinationVariable ?? '' }
        : null,
    storage: storageOf(state),
  };
}

/** The connection URL of the source, typed or composed. */
export function sourceOf(state: SetupState): string {
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

/** `null` where `public`, the default, is the only schema. */
function schemaConfigOf({ found, leftOut }: SetupState): SetUp['schemaConfig'] {
  const names = (found.source?.schemas ?? []).map(({ name }) => name);
  if (names.every((name) => name === 'public')) return null;
  const taken = names.filter((name) => !leftOut.includes(name));
  return taken.length === names.length ? { use_default_schema: false } : { include_schemas: taken };
}

export function storageOf({ answers }: SetupState): SetUp['storage'] {
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

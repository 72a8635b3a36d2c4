import { FOLDER } from '../../src/config/schema/storage-providers.ts';
import type { InGit, SetUp } from '../../src/operations/configuration/set-up.ts';
import { sourceOf, withPrograms } from './source-url.ts';
import type { SetupState } from './step.ts';
import { isProvider, KEYS, neededBy } from './storage-steps-text.ts';

export function setUpOf(state: SetupState): SetUp {
  const { answers, config } = state;
  return {
    file: config ?? answers.file ?? '',
    target: answers.target ?? 'app',
    source: sourceOf(state),
    destination: withPrograms(state, answers.destination ?? ''),
    schemaConfig: schemaConfigOf(state),
    variables:
      answers.keep === 'variable'
        ? { source: answers.sourceVariable ?? '', destination: answers.destinationVariable ?? '' }
        : null,
    storage: storageOf(state),
    inGit: IN_GIT.find((each) => each === answers.git),
  };
}

const IN_GIT: InGit[] = ['ignore', 'keychain'];

/** `null` where `public`, the default, is the only schema. */
function schemaConfigOf({ found, leftOut }: SetupState): SetUp['schemaConfig'] {
  const names = (found.source?.schemas ?? []).map(({ name }) => name);
  if (names.every((name) => name === 'public')) return null;
  const taken = names.filter((name) => !leftOut.includes(name));
  return taken.length === names.length ? { use_default_schema: false } : { include_schemas: taken };
}

export function storageOf({ answers }: SetupState): SetUp['storage'] {
  const {
    storage,
    path = '',
    bucket = '',
    region,
    endpoint,
    account,
    prefix,
    credentials,
    accessKey,
    secretKey,
  } = answers;
  if (storage === FOLDER) return { provider: storage, path };
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

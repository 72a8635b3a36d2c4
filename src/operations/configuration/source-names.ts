import { inspectConfiguration } from '../../config/load.ts';
import { type KeyPath, type Tree, valueAt } from '../../config/tree.ts';
import type { NameWithSize } from '../../results/results.ts';
import { UserError } from '../../runtime/errors.ts';
import { openUrl, type TryContext } from './check/try-connection.ts';
import type { ConfigurationDraft } from './edit-configuration.ts';

export interface SourceNames {
  /** Empty where the engine has none. */
  schema: NameWithSize[];
  table: NameWithSize[];
}

interface SourceNamesRequest {
  draft: Pick<ConfigurationDraft, 'file' | 'text'>;
  /** Path of the database's URL in the configuration. */
  source: KeyPath;
}

/** The completion of a shell does not wait longer. */
const TIMEOUT_MS = 5000;

/** The schemas and tables of the database that a URL of an edited configuration names. */
export async function sourceNames(
  { cwd, ...surroundings }: TryContext & { cwd: string },
  { draft: { file, text }, source }: SourceNamesRequest,
): Promise<SourceNames> {
  const { environment } = surroundings;
  const { values } = await inspectConfiguration({ environment, cwd, file, text });
  const url = valueAt((values ?? {}) as Tree, source);
  if (typeof url !== 'string') {
    throw new UserError('source_missing', 'The source database is not known');
  }
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const signal = AbortSignal.any([surroundings.signal, limit]);
  const {
    connect,
    url: { display },
  } = openUrl({ ...surroundings, signal }, url).database;
  const asked = Promise.all([connect.listSchemas(), connect.listTables()]);
  try {
    const [schema, table] = await Promise.race([asked, abortOf(signal)]);
    return { schema, table };
  } catch (thrown) {
    if (!limit.aborted) throw thrown;
    throw new UserError('unreachable', `No answer from ${display} within ${TIMEOUT_MS / 1000} seconds`);
  }
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
